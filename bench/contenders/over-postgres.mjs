import { accountId, createLimiter } from '@sluice/core';
import { postgresStore } from '@sluice/postgres';
import pg from 'pg';
import { RateLimiterPostgres } from 'rate-limiter-flexible';

/**
 * Decides through a PostgreSQL.
 *
 * @typedef {((id: string) => Promise<unknown>) & { verify?: () => void }} Decide Its `verify` throws when another than
 *   PostgreSQL has decided.
 * @typedef {(url: string, rate: import('./decider.ts').Rate) => Promise<Decide>} OverPostgres
 */

/** @type {OverPostgres} */
async function sluice(url, { burst, intervalMs }) {
  const store = postgresStore({ pool: poolOf(url) });
  const limiter = createLimiter({
    limits: { First: { key: accountId(), burst, count: 1, period: intervalMs } },
    store,
    // With the default of 50 ms the fallback would decide while the machine is busy with something else.
    failure: { deadlineMs: 5000 },
  });
  await limiter.ready();
  const verify = () => {
    const { decidedByPolicy, lastFailure } = limiter.status();
    if (decidedByPolicy > 0) throw new Error('PostgreSQL did not decide.', { cause: lastFailure?.cause });
  };
  const decide = (/** @type {string} */ id) => limiter.spend([{ limit: 'First', id }]);
  return Object.assign(decide, { verify });
}

/** @type {OverPostgres} */
async function rateLimiterFlexible(url, { burst, windowMs }) {
  const storeClient = poolOf(url);
  /** @type {RateLimiterPostgres} */
  const limiter = await new Promise((resolve, reject) => {
    const made = new RateLimiterPostgres(
      { storeClient, points: burst, duration: windowMs / 1000, tableName: 'flexible' },
      (error) => (error ? reject(error) : resolve(made)),
    );
  });
  return (id) => limiter.consume(id);
}

/**
 * Connections as pg makes them by default, of which Sluice uses one.
 *
 * @param {string} connectionString
 */
function poolOf(connectionString) {
  return new pg.Pool({ connectionString, max: 10 });
}

/** @type {Readonly<Record<string, OverPostgres>>} */
export const overPostgres = { Sluice: sluice, 'rate-limiter-flexible': rateLimiterFlexible };
