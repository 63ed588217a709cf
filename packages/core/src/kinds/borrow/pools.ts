import { complaint, listed, shownName, SluiceError } from '../../checks/errors.ts';
import { guess } from '../../checks/options.ts';
import { isEveryone } from '../../keys/everyone.ts';
import { debtOf, withDebtOf, type Numbers } from '../../rule/rate.ts';
import { MAX_TOLERANCE_TICKS, TICKS_PER_MS } from '../../rule/ticks.ts';
import { Levels, levelsFrom } from '../../limits/levels.ts';
import type { Limit } from '../../limits/limit.ts';
import { isExact, treatedAs, type Treatment } from '../../limits/treatment.ts';
import { MAX_LIMIT_NAME_LENGTH } from '../../limits/limit-name.ts';
import { kindOfLimit, type CountedNumbers } from '../kind.ts';
import { termsOf, type Borrowing, type Pool } from './terms.ts';
import { durationText } from '../../time/duration-text.ts';

const CEILING_SUFFIX = '.ceiling';
/** The longest name of a limit that borrows, because the name of its ceilings must be a valid name of a limit. */
const MAX_NAME_LENGTH = MAX_LIMIT_NAME_LENGTH - CEILING_SUFFIX.length;

/** Returns the numbers of the overrides of a limit; undefined if there are none, or a function returns them. */
type NumbersOf = (limit: string) => Iterable<CountedNumbers> | undefined;

/**
 * Connects the limits that borrow with their pools.
 *
 * @returns The same limits. In the treatment of those that borrow, `borrowing` describes the pool.
 * @throws {SluiceError} `ERR_LIMIT` when a pool is missing or can't be one, when a ceiling has the name of another
 * limit, or when a pool's rate is below the sum of the assured rates.
 */
export function withPools<Request>(
  limits: ReadonlyMap<string, Limit<Request>>,
  numbersOf: NumbersOf,
): ReadonlyMap<string, Limit<Request>> {
  const borrowers = [...limits.values()].filter(borrows);
  const byPool = new Map<Limit<Request>, Limit<Request>[]>();
  for (const borrower of borrowers) {
    checkCeilingName(borrower, limits);
    const pool = poolOf(borrower, limits);
    byPool.set(pool, [...(byPool.get(pool) ?? []), borrower]);
  }
  const linked = new Map(limits);
  for (const [limit, all] of byPool) {
    if (numbersOf(limit.name) !== undefined) throw overriddenPool(limit.name);
    const pool = { name: limit.name, rate: limit.rate, capTicks: capOf(limit, all, numbersOf) };
    // The limits that borrow charge it further than its own numbers allow.
    linked.set(limit.name, {
      ...limit,
      stored: new Levels(Object.assign({}, limit.levels, { capTicks: pool.capTicks })),
    });
    for (const borrower of all) linked.set(borrower.name, { ...borrower, treatment: treatmentOf(borrower, pool) });
  }
  return linked;
}

/** Whether a limit borrows. */
function borrows(limit: Limit<never>): boolean {
  return kindOfLimit(limit).mark === 'borrow';
}

function treatmentOf(limit: Limit<never>, pool: Pool): Treatment {
  const { name, treatment } = limit;
  const own = treatedAs(treatment, { isPlain: true, part: 'assured' });
  const ofCeiling = treatedAs(own, { part: 'ceiling' });
  const ofPool = treatedAs(own, { part: 'pool' });
  const borrowing: Borrowing = { ...termsOf(limit), ceilingName: ceilingNameOf(name), pool, own, ofCeiling, ofPool };
  return treatedAs(own, { isPlain: false, borrowing });
}

/** Returns the name under which the ceilings of a limit are stored. */
function ceilingNameOf(limit: string): string {
  return `${limit}${CEILING_SUFFIX}`;
}

/** Returns the ceilings of a limit that borrows as a limit: their name in stores, and their numbers. */
export function ceilingsOf(limit: Limit<never>): Limit<never> {
  const rate = withDebtOf(limit.rate, termsOf(limit).ceiling);
  const levels = levelsFrom(rate, rate);
  return { ...limit, name: ceilingNameOf(limit.name), rate, levels, stored: levels };
}

/** Returns all numbers by which a limit borrows, to compare them: two limits with the same may share their buckets. */
export function borrowedNumbersOf(limit: Limit<never>): object {
  const terms = termsOf(limit);
  const { burst, count, emissionIntervalTicks } = terms.ceiling;
  return { ...terms, ceiling: [burst, count, emissionIntervalTicks] };
}

function checkCeilingName({ name }: Limit<never>, limits: ReadonlyMap<string, Limit<never>>): void {
  const ceiling = ceilingNameOf(name);
  if (name.length > MAX_NAME_LENGTH) throw longName(name);
  const other = [...limits.keys()].find((each) => each.toLowerCase() === ceiling.toLowerCase());
  if (other === undefined) return;
  throw new SluiceError(
    'ERR_LIMIT',
    `stores its ceilings under the name \`${shownName(ceiling)}\`, but there is a limit \`${shownName(other)}\` too. ` +
      'Rename one of the two limits.',
    { path: `limits.${name}.borrow` },
  );
}

function longName(name: string): SluiceError {
  return new SluiceError(
    'ERR_LIMIT',
    `needs a limit with a name of at most ${MAX_NAME_LENGTH} characters, but this one has ` +
      `${name.length}: its ceilings are stored under the name and \`${CEILING_SUFFIX}\`. Choose a shorter name.`,
    { path: `limits.${name}.borrow` },
  );
}

function poolOf<Request>(borrower: Limit<Request>, limits: ReadonlyMap<string, Limit<Request>>): Limit<Request> {
  const { name } = borrower;
  const { from } = termsOf(borrower);
  const pool = limits.get(from);
  const option = `limits.${name}.borrow.from`;
  const wrong = (demand: string, remedy: string): SluiceError =>
    complaint('ERR_LIMIT', { option, demand, value: from, remedy });
  if (pool === undefined || from === name) {
    const names = [...limits.keys()].filter((each) => each !== name);
    const remedy = `Add it, for example ${shownName(from)}: { key: everyone(), count: 1000, period: '1s' }. Limits: ${listed(names)}.`;
    throw wrong('the name of another limit', `${guess(from, names).trimStart()} ${remedy}`.trimStart());
  }
  if (borrows(pool)) {
    throw wrong(
      'a limit that does not borrow itself',
      `A pool can't borrow: remove its \`borrow\`, or borrow from \`${shownName(termsOf(pool).from)}\`.`,
    );
  }
  if (!isEveryone(pool.key)) {
    throw wrong(
      'a limit with the key everyone()',
      'A pool is one bucket for all clients: give it the key everyone(), in files idFormat: everyone.',
    );
  }
  if (pool.kind.level !== 'falls') {
    throw wrong(`a rate, not ${pool.kind.noun}`, 'Give the pool a `count` and a `period`.');
  }
  if (!isExact(pool.treatment)) {
    throw wrong('a limit without `overshoot`', 'Remove it from the pool, which is exact.');
  }
  if (pool.rate.waitTicks !== undefined) {
    throw wrong('a limit without `maxWait`', 'Remove it from the pool.');
  }
  if (pool.disabled) throw wrong('a limit that is not disabled', 'Enable the pool, or remove `borrow`.');
  return pool;
}

/** Creates the error for an override of a pool. */
export function overriddenPool(name: string): SluiceError {
  return new SluiceError(
    'ERR_OVERRIDE',
    `changes the numbers of a pool, from which other limits borrow. Change the numbers of the limit \`${shownName(name)}\` itself.`,
    { path: `overrides.${name}` },
  );
}

/**
 * Returns τ + D of a pool, see docs/decisions/0018-borrowing.md. D includes the `maxDebt` of the limits that borrow.
 */
function capOf({ name, rate }: Limit<never>, borrowers: readonly Limit<never>[], numbersOf: NumbersOf): number {
  let [perMs, leastPerMs, tokens] = [0, 0, 0];
  for (const borrower of borrowers) {
    const { name: each, rate: own } = borrower;
    const { tenants = 0 } = termsOf(borrower);
    let borrowedPerMs = 0;
    for (const { rate: numbers, count } of [...(numbersOf(each) ?? []), { rate: own, count: tenants }]) {
      borrowedPerMs += (count * numbers.count) / numbers.periodMs;
      tokens += count * (numbers.burst + debtOf(numbers, own));
    }
    perMs += borrowedPerMs;
    // Without `tenants`, there is at least one id: a listed one, or one with the numbers of the limit.
    leastPerMs += Math.max(borrowedPerMs, own.count / own.periodMs);
  }
  const ofPool = rate.count / rate.periodMs;
  // The sum of several quotients is not exact.
  if (leastPerMs > ofPool * (1 + 1e-9)) throw overbooked(name, rate, leastPerMs);
  // The clients whose assured rates add up to the rest of the pool's rate have bursts of at most that rate × their τ.
  // The same is true for their debts.
  const unlisted = borrowers.filter((each) => termsOf(each).tenants === undefined).map((each) => each.levels.capTicks);
  const rest = (Math.max(0, ofPool - perMs) * Math.max(0, ...unlisted)) / TICKS_PER_MS;
  const debtTicks = Math.ceil(tokens + rest) * rate.emissionIntervalTicks;
  return Math.min(rate.toleranceTicks + debtTicks, MAX_TOLERANCE_TICKS);
}

function overbooked(name: string, { count, periodMs }: Numbers, perMs: number): SluiceError {
  return complaint('ERR_LIMIT', {
    option: `limits.${name}.count`,
    demand: `at least the sum of the rates assured to the clients that borrow from it, ${Math.ceil(perMs * periodMs * (1 - 1e-9))} per ${durationText(periodMs)} (tenants × the assured rate, or the rate of one id without tenants, and the overrides)`,
    value: count,
    remedy:
      'Raise the rate of the pool, or lower the assured rates or `tenants`. Otherwise clients could use up the assured tokens of others.',
  });
}
