import { andThen, type Awaitable } from '../async/awaitable.ts';
import { complaint, type SluiceError } from '../checks/errors.ts';
import { checkOptions, isPlainObject, type Hints } from '../checks/options.ts';
import { batchOf, checkAsked, transactionOf } from '../decision/batch.ts';
import type { Transaction } from '../decision/transaction.ts';
import { checkId } from '../ids/id-format.ts';
import { limitNamed, usualUseOf, type LimitSet } from '../definitions/limit-set.ts';
import type { Limit } from '../limits/limit.ts';
import { kindOfLimit } from '../kinds/kind.ts';
import { Use } from '../limits/use.ts';
import { MODES, type BucketName, type Mode, type StoreBucket } from '../store/store.ts';
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
  // A loop over a preallocated array, which is faster than map.
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
  return { limit: name, id, ...kindOfLimit(limit).bucket?.(limit, id) };
}

/** The bucket of a limit that borrows has another beside it, that of the ceiling. */
function bucketsOf(set: Pick<LimitSet<never>, 'limits'>, bucket: StoreBucket): readonly StoreBucket[] {
  const { borrowing } = limitNamed(set, bucket.limit).treatment;
  return borrowing === undefined ? [bucket] : [bucket, { limit: borrowing.ceilingName, id: bucket.id }];
}

/**
 * Returns the canonical id of an entry.
 *
 * @throws {SluiceError} `ERR_ID` when the id is not a string, or not valid in the id format of its limit.
 */
export function canonicalId(limit: Limit<never>, id: unknown): string {
  if (typeof id !== 'string') throw notText(limit, id);
  return limit.key.format.canonical(id);
}

function notText({ name }: Limit<never>, value: unknown): SluiceError {
  const remedy =
    typeof value === 'number' || typeof value === 'bigint'
      ? `Write id: '${value}'.`
      : 'Without an id, leave the entry out: all clients without one would share a bucket.';
  return complaint('ERR_ID', { option: 'id', limit: name, demand: 'a string', value, remedy });
}

const ENTRY_FIELDS = ['limit', 'id', 'cost', 'mode', 'share'];

/**
 * Validates the properties of an entry.
 *
 * @throws {SluiceError} `ERR_OPTION` when it is not an object, `ERR_UNKNOWN_OPTION` for an unknown property.
 */
function checkEntry(entry: unknown): void {
  if (!hasKnownNames(entry)) checkOptions('entries[…]', entry, ENTRY_FIELDS, ENTRY_HINTS, ENTRY_EXAMPLE);
}

// This runs for every decision, so it only compares names. `checkOptions` creates the error message.
function hasKnownNames(entry: unknown): boolean {
  if (!isPlainObject(entry)) return false;
  for (const name in entry) if (!isKnownName(name)) return false;
  return true;
}

function isKnownName(name: string): boolean {
  return name === 'limit' || name === 'id' || name === 'cost' || name === 'mode' || name === 'share';
}

const ENTRY_EXAMPLE = "{ limit: 'Orders', id: '12345678' }";
const isHere = (name: string, names: readonly string[]): Hints =>
  Object.fromEntries(names.map((other) => [other, `\`${other}\` is \`${name}\` here.`]));

/** Names from other libraries for what an entry of a call, and of the limits of a middleware, says. */
export const LIMIT_AND_COST_HINTS: Hints = {
  ...isHere('limit', ['name', 'limiter']),
  ...isHere('cost', ['points', 'tokens', 'weight', 'amount', 'count', 'hits']),
};
const ID_HINTS = isHere('id', ['key', 'ip', 'identifier', 'account', 'user']);
const ENTRY_HINTS: Hints = { ...LIMIT_AND_COST_HINTS, ...ID_HINTS };

type CallWithoutMode = 'block' | 'unblock' | 'restrict' | 'charge' | 'refund' | 'reset' | 'usage';

/** The properties of the entries of calls without a mode and a share, and hints for others. */
const CALLS: Readonly<Record<CallWithoutMode, { readonly fields: readonly string[]; readonly hints: Hints }>> = {
  block: {
    fields: ['limit', 'id', 'forMs', 'reason', 'by'],
    hints: hintsOf('block denies the id', 'block takes nothing.'),
  },
  unblock: { fields: ['limit', 'id'], hints: hintsOf('unblock ends a block', 'unblock takes nothing.') },
  restrict: {
    fields: ['limit', 'id', 'remaining', 'forMs'],
    hints: hintsOf('restrict raises the level of the bucket', 'To take tokens use charge([{ limit, id, cost }]).'),
  },
  charge: { fields: ['limit', 'id', 'cost'], hints: hintsOf('charge takes the cost') },
  refund: { fields: ['limit', 'id', 'cost'], hints: hintsOf('refund gives the cost back') },
  reset: {
    fields: ['limit', 'id'],
    hints: hintsOf(
      'reset makes the bucket full',
      'reset makes the whole bucket full: to give some tokens back use refund([{ limit, id, cost }]).',
    ),
  },
  usage: { fields: ['limit', 'id'], hints: hintsOf('usage only reads the count', 'usage takes nothing.') },
};

/** @param cost - Why an entry has no cost. */
function hintsOf(does: string, cost?: string): Hints {
  const mode = `\`mode\` belongs to spend and check: ${does} in any case.`;
  const share = '`share` belongs to spend and check: it limits what a decision may take.';
  return { ...ENTRY_HINTS, ...(cost !== undefined && { cost }), mode, share };
}

/**
 * Validates the entries of a call that accepts fewer properties than `spend`.
 *
 * @throws {SluiceError} `ERR_OPTION` when they are not an array of objects, `ERR_UNKNOWN_OPTION` for a property that
 * the call does not accept.
 */
export function checkedEntriesOf<T>(call: CallWithoutMode, entries: readonly T[]): readonly T[] {
  const { fields, hints } = CALLS[call];
  for (const entry of checkedEntries(entries))
    checkOptions(`entries[…] of ${call}`, entry, fields, hints, ENTRY_EXAMPLE);
  return entries;
}

/**
 * Validates the mode of an entry.
 *
 * @throws {SluiceError} `ERR_OPTION` when it is not a mode.
 */
function checkedMode(mode: Mode): Mode {
  if (mode === 'check-and-spend' || MODES.includes(mode)) return mode;
  throw unknownMode(mode);
}

function unknownMode(value: unknown): SluiceError {
  return complaint('ERR_OPTION', {
    option: 'mode',
    demand: "'check-and-spend', 'check-only', 'spend-only' or 'charge'",
    value,
    remedy: "For example mode: 'check-only'.",
  });
}

/**
 * Checks that the entries of a call are an array.
 *
 * @throws {SluiceError} `ERR_OPTION` when they are not.
 */
export function checkedEntries<T>(entries: readonly T[]): readonly T[] {
  if (!Array.isArray(entries)) throw noEntries(entries);
  return entries;
}

function noEntries(value: unknown): SluiceError {
  const remedy = "For example [{ limit: 'Orders', id: '12345678', cost: 1 }].";
  return complaint('ERR_OPTION', { option: 'entries', demand: 'an array', value, remedy });
}
