import { allOf, andThen, type Awaitable } from '../async/awaitable.ts';
import { SluiceError } from '../checks/errors.ts';
import { batchOf, transactionOf } from '../decision/batch.ts';
import type { Changed } from '../decision/batch-answer.ts';
import { periodLeft } from '../decision/period-left.ts';
import { isBlocked, type Transaction } from '../decision/transaction.ts';
import { limitNamed, type LimitSet } from '../definitions/limit-set.ts';
import type { Limit } from '../limits/limit.ts';
import { Use } from '../limits/use.ts';
import { remainingTokens } from '../rule/gcra.ts';
import type { BucketName } from '../store/store.ts';
import { canonicalId, checkedEntriesOf } from './entries.ts';

/** What has been used of a quota in the current period. */
export interface Usage extends BucketName {
  /** The tokens that were used. More than `count` if the quota was lowered since. 0 for an unlimited or blocked id. */
  readonly used: number;
  /** The tokens of the period: `Infinity` for an unlimited id, 0 for a blocked one. */
  readonly count: number;
  /** The tokens that are left. */
  readonly remaining: number;
  /** The start of the current period, by the clock of the store. */
  readonly start: Date;
  /** The end of the current period, which is the start of the next one. */
  readonly end: Date;
}

/** An id of a quota, with its transaction; `null` if it is unlimited. */
interface AskedUsage {
  readonly limit: Limit<never>;
  readonly id: string;
  readonly transaction: Transaction | null;
}

/**
 * Returns what has been used of quotas.
 *
 * @param read - Reads the levels of a batch. It rejects when the store can't answer.
 * @throws {SluiceError} The errors of `Limiter.usage`.
 */
export function usageOf(
  set: LimitSet<never>,
  entries: readonly BucketName[],
  read: (batch: readonly Transaction[]) => Awaitable<Changed<Transaction>>,
): Awaitable<readonly Usage[]> {
  const asked = checkedEntriesOf('usage', entries).map((entry) => askedOf(set, entry));
  return andThen(allOf(asked), (all) => {
    const counted = all.flatMap(({ transaction }) => (isCounted(transaction) ? [transaction] : []));
    return andThen(batchOf(counted), (batch) => andThen(read(batch), (readings) => usages(all, readings)));
  });
}

function askedOf(set: LimitSet<never>, { limit: name, id: text }: BucketName): Awaitable<AskedUsage> {
  const limit = limitNamed(set, name);
  if (limit.periods === undefined) throw notAQuota(name);
  const id = canonicalId(limit, text);
  const transaction = transactionOf(set, new Use(limit, 0, 'check-only', 1), id, undefined);
  return andThen(transaction, (known) => ({ limit, id, transaction: known }));
}

function isCounted(transaction: Transaction | null): transaction is Transaction {
  return transaction !== null && !isBlocked(transaction);
}

function usages(all: readonly AskedUsage[], { batch, reading }: Changed<Transaction>): readonly Usage[] {
  return all.map(({ limit, id, transaction }) => {
    const index = batch.findIndex((one) => one.limit === limit.name && one.id === id);
    if (index === -1) return uncounted(limit, id, transaction === null ? Infinity : 0);
    const { startMs, endMs } = periodLeft(batch[index]!, reading, index)!;
    const level = reading.levelsTicks[index]!;
    const { count } = batch[index]!.rate;
    // A higher level was written in the next period, before the clock stepped back: nothing fits.
    const used = level > limit.periods!.mostTokens ? count : level;
    const figures = { used, count, remaining: remainingTokens(used, 1, count) };
    return { limit: limit.name, id, ...figures, start: new Date(startMs), end: new Date(endMs) };
  });
}

/** The store is not called for it, so the period is chosen by the limiter's estimate of the store's clock. */
function uncounted(limit: Limit<never>, id: string, count: number): Usage {
  const [startMs, endMs] = limit.periods!.running(limit.periods!.of(id));
  return { limit: limit.name, id, used: 0, count, remaining: count, start: new Date(startMs), end: new Date(endMs) };
}

function notAQuota(name: string): SluiceError {
  return new SluiceError(
    'ERR_OPTION',
    `\`usage\` must be given limits that are quotas, but "${name}" is another kind of limit. To see what is left of it without taking ` +
      `anything, use check([{ limit: '${name}', id }]).`,
  );
}
