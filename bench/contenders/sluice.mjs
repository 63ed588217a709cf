import { subscribe } from 'node:diagnostics_channel';
import { accountId, createLimiter, everyone, memoryStore } from '@sluice/core';
import { borrow } from '@sluice/core/borrow';
import { counts } from '@sluice/core/metrics';
import { quota } from '@sluice/core/quota';
import { idsOf } from '../ids.mjs';
import { useAllKinds } from './all-kinds.mjs';
import { withMetricsAndSpans } from './opentelemetry.mjs';

const key = accountId();

/** @type {(rate: Rate) => RateDefinition} */
const ofRate = ({ burst, intervalMs }) => ({ key, burst, count: 1, period: `${intervalMs}ms` });

const NAMES = ['First', 'Second', 'Third', 'Fourth', 'Fifth', 'Sixth', 'Seventh', 'Eighth'];

/** `limiter.spend`, as applications call it. */
export const sluice = sluiceOf(ofRate);

/** The same with limits of other kinds, which are compared with a rate. */
export const kindsOfSluice = {
  'Sluice, quota': sluiceOf(({ burst }) => quota({ key, count: burst, per: 'year' })),
  'Sluice, waiting': sluiceOf((rate) => ({ ...ofRate(rate), maxWait: '1s' })),
  'Sluice, debt': sluiceOf((rate) => ({ ...ofRate(rate), maxDebt: 10 })),
  'Sluice, borrowing': sluiceOf(
    ({ burst, intervalMs }) => {
      const numbers = { burst, count: 1, period: /** @type {const} */ (`${intervalMs}ms`) };
      return borrow({ key, ...numbers, borrow: { from: 'Pool', ceiling: numbers, tenants: 1 } });
    },
    { Pool: { key: everyone(), count: 1_000_000, period: '1s' } },
  ),
  'Sluice, a rate after all kinds': sluiceOf(ofRate, {}, useAllKinds),
  'Sluice, two limits': together(2),
  'Sluice, eight limits': together(8),
  'Sluice, an override for each id': sluiceOf(ofRate, {}, undefined, one, overrideForEach),
  'Sluice, by a handle': sluiceOf(ofRate, {}, undefined, byHandle),
  'Sluice, counted': sluiceOf(ofRate, {}, undefined, counted),
  'Sluice, with a subscriber': sluiceOf(ofRate, {}, undefined, withSubscriber),
  'Sluice, with OpenTelemetry': sluiceOf(ofRate, {}, undefined, withOpenTelemetry),
};

/** A limit that comes back so fast that each bucket is full again at its next request, which is not for others to say. */
export const quietSluice = { 'Sluice, quiet': sluiceOf(() => ({ key, count: 1_000_000, period: '1s' })) };

/**
 * @typedef {import('./decider.ts').Rate} Rate
 * @typedef {import('@sluice/core').RateDefinition} RateDefinition
 * @param {(rate: Rate) => import('@sluice/core').LimitDefinition} definitionOf
 * @param {import('@sluice/core').Limits} others Limits that those which are measured need.
 * @param {() => void} before What the process does before.
 * @param {typeof one} decideOne What decides by one limit.
 * @param {typeof noOverrides} overridesOf The overrides of the first limit.
 * @returns {import('./decider.ts').Contender}
 */
function sluiceOf(definitionOf, others = {}, before = () => undefined, decideOne = one, overridesOf = noOverrides) {
  return {
    answersAtOnce: true,
    bounded: true,
    decider: ({ rate, limits, maxKeys }) => {
      before();
      const names = NAMES.slice(0, limits);
      const definition = definitionOf(rate);
      const limiter = createLimiter({
        limits: { ...Object.fromEntries(names.map((name) => [name, definition])), ...others },
        overrides: { First: overridesOf(rate, maxKeys) },
        store: memoryStore({ maxKeys: storeSize(maxKeys * limits, definition) }),
      });
      return { ...(limits === 1 ? decideOne(limiter) : several(limiter, names)), allowed: ({ allowed }) => allowed };
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

/**
 * @param {import('@sluice/core').Limiter} limiter
 * @param {readonly string[]} names
 * @returns {Calls}
 */
function several(limiter, names) {
  const entries = (/** @type {string} */ id) => names.map((limit) => ({ limit, id }));
  return { decide: (id) => limiter.spend(entries(id)), decideAtOnce: (id) => limiter.spendSync(entries(id)) };
}

/**
 * As many limits as that, whatever the case has.
 *
 * @param {number} limits
 * @returns {import('./decider.ts').Contender}
 */
function together(limits) {
  return { ...sluice, decider: (options) => sluice.decider({ ...options, limits }) };
}

/**
 * @param {Rate} _rate
 * @param {number} _ids
 * @returns {Record<string, import('@sluice/core').Override>}
 */
function noOverrides(_rate, _ids) {
  return {};
}

/** @type {typeof noOverrides} */
function overrideForEach({ burst, intervalMs }, ids) {
  const numbers = { burst, count: 1, period: /** @type {const} */ (`${intervalMs}ms`) };
  return Object.fromEntries(Array.from({ length: ids }, (_, n) => [idsOf['account ids'](n), numbers]));
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
