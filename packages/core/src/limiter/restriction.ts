import { andThen, type Awaitable } from '../async/awaitable.ts';
import { SluiceError } from '../checks/errors.ts';
import { wholeNumber } from '../checks/options.ts';
import { batchOf } from '../decision/batch.ts';
import { changed, type Transaction } from '../decision/transaction.ts';
import { limitNamed, type LimitSet } from '../definitions/limit-set.ts';
import type { Limit } from '../limits/limit.ts';
import { isExact } from '../limits/treatment.ts';
import { restrictedLevel } from '../rule/gcra.ts';
import { MAX_TOLERANCE_TICKS, TICKS_PER_MS } from '../rule/ticks.ts';
import type { BucketName } from '../store/store.ts';
import { checkedEntriesOf, transactionOfEntry } from './entries.ts';

/** An entry of `Limiter.restrict`: one bucket, and what is known about it. At least one of both is given. */
export interface RestrictEntry<Name extends string = string> extends BucketName {
  readonly limit: Name;
  /** The tokens that are left at most: a whole number from 0 up. More than the burst restrict nothing. */
  readonly remaining?: number | undefined;
  /** How long a request of cost 1 has to wait at least: whole milliseconds from 0 to 3,600,000, an hour. */
  readonly forMs?: number | undefined;
}

/** What is known about a bucket: see {@link RestrictEntry}. */
export type Restriction = Pick<RestrictEntry, 'remaining' | 'forMs'>;

const AN_HOUR_MS = 3_600_000;

/**
 * Makes the charges that restrict buckets: each raises the level of its bucket to the one asked for, and no further.
 *
 * @throws {SluiceError} The errors of an entry, and of a batch.
 */
export function restrictionsOf(
  set: LimitSet<never>,
  entries: readonly RestrictEntry[],
): Awaitable<readonly Transaction[]> {
  const made = checkedEntriesOf('restrict', entries).map((entry) => {
    const { limit, id } = entry;
    checkCanRestrict(limitNamed(set, limit));
    checkRestriction(entry);
    return andThen(transactionOfEntry(set, 'charge', { limit, id }), (one) => one && restricted(one, entry));
  });
  return batchOf(made);
}

function restricted(transaction: Transaction, { remaining, forMs }: Restriction): Transaction {
  const waitTicks = forMs === undefined ? undefined : forMs * TICKS_PER_MS;
  const levelTicks = Math.min(restrictedLevel(transaction.rate, { remaining, waitTicks }), MAX_TOLERANCE_TICKS);
  const cost = Math.ceil(levelTicks / transaction.rate.emissionIntervalTicks);
  return changed(transaction, { cost, incrementTicks: levelTicks, capTicks: levelTicks });
}

/** @throws {SluiceError} `ERR_OPTION`. */
function checkRestriction({ remaining, forMs }: Restriction): void {
  if (remaining !== undefined) wholeNumber('restrict.remaining', remaining, { min: 0, max: Number.MAX_SAFE_INTEGER });
  // Without both, its error says what is missing.
  if (forMs !== undefined || remaining === undefined) wholeNumber('restrict.forMs', forMs, { min: 0, max: AN_HOUR_MS });
}

/** @throws {SluiceError} `ERR_OPTION` for a limit whose bucket alone does not decide what passes. */
function checkCanRestrict({ name, kind, treatment }: Limit<never>): void {
  if (kind.level === 'falls' && treatment.isPlain && isExact(treatment)) return;
  throw new SluiceError(
    'ERR_OPTION',
    `\`restrict\` must not be given the limit "${name}", because only a rate that takes from one bucket, without \`overshoot\`, ` +
      'can be restricted. Define such a rate beside it, and restrict that.',
  );
}
