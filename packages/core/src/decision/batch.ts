import { allOf, andThen, type Awaitable } from '../async/awaitable.ts';
import { complaint, shown, SluiceError } from '../checks/errors.ts';
import { checkId, MAX_ID_LENGTH } from '../ids/id-format.ts';
import type { Levels } from '../limits/levels.ts';
import type { OverrideRate, RateLookup } from '../limits/limit.ts';
import { checkShare } from '../limits/share.ts';
import type { Use } from '../limits/use.ts';
import { remainingTokens } from '../rule/gcra.ts';
import { mapKeyOf } from '../store/bucket-key.ts';
import type { BucketName } from '../store/store.ts';
import { isBlocked, Transaction } from './transaction.ts';

/**
 * Up to this number of buckets, each pair is compared, which allocates nothing. Larger batches use a Set, because the
 * number of pairs grows with the square.
 */
const MAX_PAIRED = 16;

/**
 * Creates a transaction by the numbers that apply to its id. Returns a promise only when the override has to be
 * awaited. Returns `null` for an unlimited id; {@link isBlocked} detects a blocked one. A cost above the burst and
 * `maxDebt`, which only a charge or a refund may have, counts as these together: it empties or fills the bucket.
 *
 * @param use - Its cost and share passed {@link checkAsked}, once where they are fixed.
 * @param id - Canonical.
 * @param request - The framework's request, for `overrides` functions; `undefined` without HTTP.
 * @throws {SluiceError} `ERR_ID` for an id that is not text, `ERR_OPTION` for an anchor of a quota that is not a date,
 * `ERR_COST_OVER_BURST` for a cost that does not fit into a share below 1.
 */
export function transactionOf(
  { rateFor }: { readonly rateFor: RateLookup | undefined },
  use: Use,
  id: string,
  request: unknown,
): Awaitable<Transaction | null> {
  // The condition is repeated here, so that most transactions make one call less.
  if (typeof id !== 'string' || id === '' || id.length > MAX_ID_LENGTH) checkId(use.limit.name, id);
  const rate = rateFor === undefined ? use.limit.rate : rateFor(use.limit, id, request);
  if (rate instanceof Promise) return withRateToCome(use, id, rate);
  const { last, limit } = use;
  if (last?.rate === rate && limit.periods === undefined) return new Transaction(use, last, id);
  return withRate(use, id, rate);
}

// A function of its own: a closure in its caller would allocate a context on each call.
function withRateToCome(use: Use, id: string, rate: Promise<OverrideRate>): Promise<Transaction | null> {
  return rate.then((settled) => withRate(use, id, settled));
}

function withRate(use: Use, id: string, override: OverrideRate): Transaction | null {
  if (override === 'unlimited') return null;
  const { last } = use;
  const levels = last?.rate === override ? last : use.levelsFor(override);
  return use.limit.periods === undefined ? new Transaction(use, levels, id) : withPeriod(use, levels, id);
}

// A function of its own, because it is rare: V8 inlines the short caller.
function withPeriod(use: Use, levels: Levels, id: string): Transaction {
  const periods = use.limit.periods!;
  const named = periods.of(id);
  // No store decides a blocked id.
  const period = levels.rate.burst === 0 ? periods.running(named) : periods.forStore(named);
  return new Transaction(use, levels, id, named.name, period);
}

/**
 * Combines transactions into a batch, synchronously when none of them is a promise. Leaves out those of unlimited ids.
 *
 * @throws {SluiceError} `ERR_DUPLICATE_BUCKET` when two transactions name one bucket.
 */
export function batchOf<T extends BucketName>(transactions: readonly Awaitable<T | null>[]): Awaitable<readonly T[]> {
  for (let i = 0; i < transactions.length; i++) {
    const transaction = transactions[i]!;
    if (transaction === null || transaction instanceof Promise) return andThen(allOf(transactions), limited);
  }
  return distinct(transactions as readonly T[]);
}

// The rare cases are in functions of their own: V8 inlines the short caller.
function limited<T extends BucketName>(all: readonly (T | null)[]): readonly T[] {
  return distinct(all.filter((transaction) => transaction !== null));
}

function distinct<T extends BucketName>(batch: readonly T[]): readonly T[] {
  if (batch.length > 1) checkDistinct(batch);
  return batch;
}

function checkDistinct(batch: readonly BucketName[]): void {
  if (batch.length > MAX_PAIRED) return checkManyDistinct(batch);
  for (let i = 1; i < batch.length; i++) {
    for (let j = 0; j < i; j++) if (isSameBucket(batch[i]!, batch[j]!)) throw duplicateBucket(batch[i]!);
  }
}

function checkManyDistinct(batch: readonly BucketName[]): void {
  const keys = new Set<string>();
  for (const bucket of batch) {
    const key = mapKeyOf(bucket);
    if (keys.has(key)) throw duplicateBucket(bucket);
    keys.add(key);
  }
}

function isSameBucket(one: BucketName, other: BucketName): boolean {
  return one.limit === other.limit && one.id === other.id;
}

function duplicateBucket({ limit, id }: BucketName): SluiceError {
  return new SluiceError(
    'ERR_DUPLICATE_BUCKET',
    `The batch names the id ${shown(id)} of limit "${limit}" twice. Name it once, with the sum of the costs.`,
  );
}

/**
 * Rejects a cost or a share that no limit can have.
 *
 * @throws {SluiceError} `ERR_COST` for a cost that is not a whole number of at least 0, `ERR_OPTION` for an invalid share.
 */
export function checkAsked({ limit, cost, mode, share }: Use): void {
  if (!Number.isSafeInteger(cost) || cost < 0) throw badCost(limit.name, cost);
  if (share !== 1) checkShare(limit.name, share, mode);
}

/**
 * Rejects a cost that is not a whole number of at least 0.
 *
 * @throws {SluiceError} `ERR_COST`.
 */
export function checkCost(limit: string, cost: unknown): asserts cost is number {
  if (!Number.isSafeInteger(cost) || (cost as number) < 0) throw badCost(limit, cost);
}

/**
 * Returns transactions as a batch if all are known and a store can decide them as they are, otherwise `undefined`. This is
 * the common case of every decision.
 *
 * @throws {SluiceError} `ERR_DUPLICATE_BUCKET` when two transactions name one bucket.
 */
export function plainBatchOf(
  transactions: readonly Awaitable<Transaction | null>[],
): readonly Transaction[] | undefined {
  for (let i = 0; i < transactions.length; i++) {
    const one = transactions[i]!;
    // A promise is not a transaction either.
    if (!(one instanceof Transaction) || !one.isPlain) return undefined;
  }
  const batch = transactions as readonly Transaction[];
  if (batch.length > 1) checkDistinct(batch);
  return batch;
}

function hasFittingCost({ mode, cost, rate, capTicks }: Transaction): boolean {
  return cost <= rate.burst || (mode === 'charge' && cost * rate.emissionIntervalTicks <= capTicks);
}

/**
 * Rejects a cost above the burst, or in a charge above the burst and `maxDebt`: it could never pass.
 *
 * @throws {SluiceError} `ERR_COST_OVER_BURST`.
 */
export function checkCostFits(transaction: Transaction): void {
  if (!canEverPass(transaction)) throw costOverBurst(transaction);
}

/** Whether a cost is at most the burst, or in a charge the burst and `maxDebt`. No cost is too high for a blocked id. */
export function canEverPass(transaction: Transaction): boolean {
  return isBlocked(transaction) || hasFittingCost(transaction);
}

/** Whether an id of a batch is blocked. Such a batch is denied without calling the store. */
export function hasBlocked(batch: readonly Transaction[]): boolean {
  for (let i = 0; i < batch.length; i++) if (isBlocked(batch[i]!)) return true;
  return false;
}

/** Leaves out the transactions of blocked ids, which have no bucket. */
export function withoutBlocked(batch: readonly Transaction[]): readonly Transaction[] {
  return hasBlocked(batch) ? batch.filter((transaction) => !isBlocked(transaction)) : batch;
}

// Errors are created in functions of their own: V8 inlines the short caller.
function badCost(limit: string, value: unknown): SluiceError {
  return complaint('ERR_COST', {
    option: 'cost',
    limit,
    demand: 'a whole number from 0 up',
    value,
    remedy: costRemedy(value),
  });
}

function costRemedy(value: unknown): string {
  if (typeof value === 'bigint' || (typeof value === 'string' && /^\d{1,13}$/.test(value)))
    return `Write cost: ${value}.`;
  return 'Costs are tokens. For smaller costs, multiply burst, count and all costs by the same number.';
}

function costOverBurst({ limit, cost, mode, rate, fitTicks, capTicks }: Transaction): SluiceError {
  const most = remainingTokens(0, rate.emissionIntervalTicks, mode === 'charge' ? capTicks : rate.toleranceTicks);
  // A charge takes what the queue has room for, or more with a larger debt.
  const { size } = rate.kind;
  const above = capTicks > fitTicks ? 'maxDebt' : 'maxWait';
  return complaint('ERR_COST_OVER_BURST', {
    option: 'cost',
    limit,
    demand: `at most the ${size}${most > rate.burst ? ` and ${above} together` : ''}, ${most}`,
    value: cost,
    remedy: `Such a request could never pass, however long it waits. Raise the ${size} or lower the cost.`,
    status: 400,
  });
}
