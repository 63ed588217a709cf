import { andThen, type Awaitable } from '../async/awaitable.ts';
import { batchOf, checkAsked, transactionOf } from '../decision/batch.ts';
import type { Transaction } from '../decision/transaction.ts';
import { checkId } from '../ids/id-format.ts';
import { limitNamed, usualUseOf, type LimitSet } from '../limits/limit-set.ts';
import { Use } from '../limits/use.ts';
import type { Limit } from '../limits/limit.ts';
import type { BucketName, StoreBucket } from '../store/store.ts';
import { canonicalId, checkedEntriesOf, checkedMode, checkEntry } from './entries.ts';
import { checkCall, type EntryCall } from './entry-calls.ts';
import type { CostEntry, SpendEntry } from './entry.ts';

/**
 * Makes the transaction of an entry.
 *
 * @throws {SluiceError} The errors of an entry.
 */
export function transactionOfEntry(
  set: LimitSet<never>,
  call: EntryCall,
  entry: SpendEntry | CostEntry,
): Awaitable<Transaction | null> {
  checkEntry(entry);
  const { limit: name, id, cost = 1, mode = 'check-and-spend', share = 1 } = entry;
  const usual = usualUseOf(set, name);
  const { limit } = usual;
  if (!limit.treatment.isPlain) checkCall(limit, call, mode);
  const canonical = canonicalId(limit, id);
  const isUsual = cost === 1 && mode === 'check-and-spend' && share === 1;
  return transactionOf(set, isUsual ? usual : checkedUse(limit, entry), canonical, undefined);
}

/**
 * Makes the use of a limit by an entry.
 *
 * @throws {SluiceError} `ERR_OPTION` for a wrong mode or share, `ERR_COST` for a wrong cost.
 */
export function checkedUse(
  limit: Limit<never>,
  { cost = 1, mode = 'check-and-spend', share = 1 }: Pick<SpendEntry, 'cost' | 'mode' | 'share'>,
): Use {
  const use = new Use(limit, cost, checkedMode(mode), share);
  checkAsked(use);
  return use;
}

/**
 * Makes the transactions of the entries of one call.
 *
 * @throws {SluiceError} The errors of an entry.
 */
export function transactionsOf(
  set: LimitSet<never>,
  call: EntryCall,
  entries: readonly (SpendEntry | CostEntry)[],
): readonly Awaitable<Transaction | null>[] {
  // A loop over a preallocated array: see docs/hot-path.md.
  // oxlint-disable-next-line unicorn/no-new-array
  const transactions = new Array<Awaitable<Transaction | null>>(entries.length);
  for (let i = 0; i < entries.length; i++) transactions[i] = transactionOfEntry(set, call, entries[i]!);
  return transactions;
}

/**
 * Makes the batch of a call whose entries have no mode and no share.
 *
 * @throws {SluiceError} The errors of an entry, and of a batch.
 */
export function costBatchOf(
  set: LimitSet<never>,
  call: 'charge' | 'refund',
  entries: readonly CostEntry[],
): Awaitable<readonly Transaction[]> {
  return batchOf(transactionsOf(set, call, checkedEntriesOf(call, entries)));
}

/**
 * Finds all buckets that `reset` fills.
 *
 * @throws {SluiceError} The errors of an entry, and of a batch.
 */
export function bucketsToReset(
  set: Pick<LimitSet<never>, 'limits'>,
  entries: readonly BucketName[],
): Awaitable<readonly StoreBucket[]> {
  const named = batchOf(checkedEntriesOf('reset', entries).map((entry) => bucketOf(set, entry)));
  return andThen(named, (batch) => batch.flatMap((bucket) => bucketsOf(set, bucket)));
}

function bucketOf(set: Pick<LimitSet<never>, 'limits'>, { limit: name, id: text }: BucketName): StoreBucket {
  const limit = limitNamed(set, name);
  const id = canonicalId(limit, text);
  checkId(limit.name, id);
  checkCall(limit, 'reset', 'check-and-spend');
  const slots = limit.treatment.slots === undefined ? undefined : true;
  return { limit: name, id, calendar: limit.calendar?.of(id).name, slots };
}

/** The bucket of a limit that borrows has another beside it, that of the ceiling. */
function bucketsOf(set: Pick<LimitSet<never>, 'limits'>, bucket: StoreBucket): readonly StoreBucket[] {
  const { borrowing } = limitNamed(set, bucket.limit).treatment;
  return borrowing === undefined ? [bucket] : [bucket, { limit: borrowing.ceilingName, id: bucket.id }];
}
