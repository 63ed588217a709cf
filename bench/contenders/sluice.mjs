import { subscribe } from 'node:diagnostics_channel';
import { accountId, createLimiter, everyone, memoryStore } from '@sluice/core';
import { counts } from '@sluice/core/metrics';
import { useAllKinds } from './all-kinds.mjs';
import { withMetricsAndSpans } from './opentelemetry.mjs';

/** @type {(rate: Rate) => Numbers} */
const rateNumbers = ({ burst, intervalMs }) => ({ burst, count: 1, period: `${intervalMs}ms` });

/** `limiter.spend`, as applications call it. */
export const sluice = sluiceOf(rateNumbers);

/** The same with limits of other kinds, which are compared with a rate. */
export const kindsOfSluice = {
  'Sluice, quota': sluiceOf(({ burst }) => ({ count: burst, per: 'year' })),
  'Sluice, waiting': sluiceOf(({ burst, intervalMs }) => ({
    burst,
    count: 1,
    period: `${intervalMs}ms`,
    maxWait: '1s',
  })),
  'Sluice, debt': sluiceOf(({ burst, intervalMs }) => ({ burst, count: 1, period: `${intervalMs}ms`, maxDebt: 10 })),
  'Sluice, borrowing': sluiceOf(
    ({ burst, intervalMs }) => {
      const numbers = { burst, count: 1, period: `${intervalMs}ms` };
      return { ...numbers, borrow: { from: 'Pool', ceiling: numbers, tenants: 1 } };
    },
    { Pool: { key: everyone(), count: 1_000_000, period: '1s' } },
  ),
  'Sluice, a rate after all kinds': sluiceOf(rateNumbers, {}, useAllKinds),
  'Sluice, by a handle': sluiceOf(rateNumbers, {}, undefined, byHandle),
  'Sluice, counted': sluiceOf(rateNumbers, {}, undefined, counted),
  'Sluice, with a subscriber': sluiceOf(rateNumbers, {}, undefined, withSubscriber),
  'Sluice, with OpenTelemetry': sluiceOf(rateNumbers, {}, undefined, withOpenTelemetry),
};

/** A limit that comes back so fast that each bucket is full again at its next request, which is not for others to say. */
export const quietSluice = { 'Sluice, quiet': sluiceOf(() => ({ count: 1_000_000, period: '1s' })) };

/**
 * @typedef {import('./decider.ts').Rate} Rate
 * @typedef {import('@sluice/core').Rate} RateNumbers
 * @typedef {RateNumbers | { count: number, per: 'year' }} Numbers
 * @param {(rate: Rate) => Numbers} numbersOf
 * @param {import('@sluice/core').Limits} others Limits that those which are measured need.
 * @param {() => void} before What the process does before.
 * @param {typeof one} decideOne What decides by one limit.
 * @returns {import('./decider.ts').Contender}
 */
function sluiceOf(numbersOf, others = {}, before = () => undefined, decideOne = one) {
  return {
    answersAtOnce: true,
    bounded: true,
    decider: ({ rate, limits, maxKeys }) => {
      before();
      const names = ['First', 'Second', 'Third'].slice(0, limits);
      const definition = { key: accountId(), ...numbersOf(rate) };
      const limiter = createLimiter({
        limits: { ...Object.fromEntries(names.map((name) => [name, definition])), ...others },
        store: memoryStore({ maxKeys: storeSize(maxKeys * limits, definition) }),
      });
      return { ...(limits === 1 ? decideOne(limiter) : three(limiter)), allowed: ({ allowed }) => allowed };
    },
  };
}

/**
 * A limit that borrows has a bucket more for each id, and that of the pool.
 *
 * @param {number} buckets
 * @param {object} definition
 */
function storeSize(buckets, definition) {
  return 'borrow' in definition ? 2 * buckets + 1 : buckets;
}

/**
 * @typedef {Pick<import('./decider.ts').Decider<import('@sluice/core').Decision>, 'decide' | 'decideAtOnce'>} Calls
 * @param {import('@sluice/core').Limiter} limiter
 * @returns {Calls}
 */
function one(limiter) {
  return {
    decide: (id) => limiter.spend([{ limit: 'First', id }]),
    decideAtOnce: (id) => limiter.spendSync([{ limit: 'First', id }]),
  };
}

/** @type {typeof one} */
function byHandle(limiter) {
  const first = limiter.limit('First');
  return { decide: (id) => first.spend(id), decideAtOnce: (id) => first.spendSync(id) };
}

/** @type {typeof one} */
function three(limiter) {
  const entries = (/** @type {string} */ id) => [
    { limit: 'First', id },
    { limit: 'Second', id },
    { limit: 'Third', id },
  ];
  return { decide: (id) => limiter.spend(entries(id)), decideAtOnce: (id) => limiter.spendSync(entries(id)) };
}

/** @type {typeof one} */
function counted(limiter) {
  counts(limiter);
  return one(limiter);
}

/** @type {typeof one} */
function withSubscriber(limiter) {
  subscribe('sluice:decision', () => undefined);
  return one(limiter);
}

/** @type {typeof one} */
function withOpenTelemetry(limiter) {
  withMetricsAndSpans(limiter);
  return one(limiter);
}
