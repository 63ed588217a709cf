import { readFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { redisStore } from '@sluice/redis';
import { overRedis } from '../contenders/over-redis.mjs';
import { Results } from '../harness/results.mjs';
import { VisitOrder } from '../ids.mjs';
import { decideEach } from '../redis/in-flight.mjs';
import { RedisServer } from '../redis/server.mjs';

const SCRIPT = new URL('../../packages/redis/lua/decide.lua', import.meta.url);

const IDS = 10_000;
const ROUNDS = 3;
const TURNS = 40;
const DECISIONS = 500;
const WARM_UP = 5000;
const RATE = { burst: 1_000_000, intervalMs: 60_000, windowMs: 3_600_000 };
const INCREMENT_TICKS = RATE.intervalMs * 16_000;
const TOLERANCE_TICKS = RATE.burst * INCREMENT_TICKS;
const DEADLINE_MS = 5000;
const CASE = '1 in flight';

/** @typedef {import('../contenders/over-redis.mjs').OverRedis} OverRedis */

/** @param {import('ioredis').Redis} client */
const ourScript = async (client) => {
  const sha1 = await client.script('LOAD', readFileSync(SCRIPT, 'utf8'));
  // As decide.lua says: until when, one batch of one transaction, its numbers.
  const args = [Number.MAX_SAFE_INTEGER, 2 ** 20 + 1, 0, TOLERANCE_TICKS, INCREMENT_TICKS];
  return (/** @type {string} */ id) => client.evalsha(String(sha1), 1, `script:${id}`, ...args);
};

/** @param {import('ioredis').Redis} client */
const ourStore = async (client) => {
  const store = redisStore({ client });
  // oxlint-disable-next-line no-await-in-loop
  while (store.status().state !== 'up') await wait(10);
  const numbers = { incrementTicks: INCREMENT_TICKS, fitTicks: TOLERANCE_TICKS, capTicks: TOLERANCE_TICKS };
  return (/** @type {string} */ id) =>
    store.run(
      { kind: 'spend', alternatives: [[{ limit: 'First', id, mode: 'check-and-spend', ...numbers }]] },
      DEADLINE_MS,
    );
};

/** From the least that can be asked to all that we do. */
const STEPS = {
  'raw INCR': overRedis['raw INCR'],
  'rate-limit-redis': overRedis['rate-limit-redis'],
  'a GCRA script': overRedis['a GCRA script'],
  'our script, sent by ioredis': ourScript,
  'our store': ourStore,
  'our limiter': overRedis['Sluice'],
};

/**
 * Decides one id after the other, in turns of each way.
 *
 * @returns {Promise<{ step: string, micros: import('../harness/statistics.mjs').Spread }[]>} Microseconds of a decision.
 */
export async function oneAtATime() {
  const results = new Results();
  for (let round = 0; round < ROUNDS; round++) {
    // oxlint-disable-next-line no-await-in-loop
    for (const [contender, turns] of await oneRound()) results.add({ contender, case: CASE }, turns);
  }
  return results.contenders.map((step) => ({
    step,
    micros: /** @type {import('../harness/statistics.mjs').Spread} */ (results.figure(step, CASE, 'micros')),
  }));
}

async function oneRound() {
  const order = new VisitOrder(IDS);
  /** @type {{ step: string, decide: import('../contenders/over-redis.mjs').Decide, turns: { micros: number }[] }[]} */
  const ways = [];
  const server = await RedisServer.start({ core: 0 });
  for (const [step, make] of Object.entries(STEPS)) {
    // oxlint-disable-next-line no-await-in-loop
    const decide = await /** @type {OverRedis} */ (make)(server.connect(), RATE);
    ways.push({ step, decide, turns: [] });
    // oxlint-disable-next-line no-await-in-loop
    await decideEach(decide, order.next(WARM_UP), 1);
  }
  for (let turn = 0; turn < TURNS; turn++) {
    for (const { decide, turns } of ways) {
      const visits = order.next(DECISIONS);
      const startMs = performance.now();
      // oxlint-disable-next-line no-await-in-loop
      await decideEach(decide, visits, 1);
      turns.push({ micros: (1000 * (performance.now() - startMs)) / DECISIONS });
    }
  }
  return ways.map(({ step, turns }) => /** @type {const} */ ([step, turns]));
}
