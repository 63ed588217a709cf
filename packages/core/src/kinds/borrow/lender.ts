import { toNativePromise } from '../../async/awaitable.ts';
import { complaint, reasonOf, shownName, SluiceError } from '../../checks/errors.ts';
import type { Decided } from '../../decision/decided.ts';
import { assuredBatch, assuredLoan, borrowedLoan, borrows, withLoans, type Loan } from './loan.ts';
import type { Batch, Transaction } from '../../decision/transaction.ts';
import type { EventSink } from '../../events/event.ts';
import { checkFraction } from '../../limits/option.ts';
import { WEIGHT } from './borrow.ts';
import { borrowingOf, type Borrowing } from './terms.ts';
import type { LinkedUse } from '../kind.ts';
import { TICKS_PER_MICRO } from '../../rule/ticks.ts';
import { mapKeyOf } from '../../store/bucket-key.ts';
import type { Time } from '../../time/time.ts';

/** What a store accepts in one call of `spendFirst`. */
const MAX_ALTERNATIVES = 4;
const MAX_TRANSACTIONS = 8;

/** The time constant with which the borrowed tokens of a client decay. */
const WINDOW_MICROS = 500_000;
const WINDOW_TICKS = WINDOW_MICROS * TICKS_PER_MICRO;
/** κ: a client that borrows at the pool's rate needs this part of its burst to be left, 1/4. */
const GAIN = 4;
/** After ten time constants, less than one of 20,000 tokens is left. */
const FORGOTTEN_MICROS = 10 * WINDOW_MICROS;
/** The most clients that are remembered from one period. */
const MAX_CLIENTS = 50_000;

/** What a client has borrowed recently: tokens, which decay exponentially. */
interface Borrowed {
  readonly tokens: number;
  readonly atMicros: number;
}

/**
 * Makes the alternatives by which a batch with limits that borrow is decided, and lends fairly.
 *
 * A client may borrow while e ≤ κ × free × weight × the pool's rate. Here e is the rate at which the client has
 * borrowed recently from this process, and `free` is the part of the pool's bucket that is left. In other words, the
 * client may use the share 1 − e / (κ × weight × rate) of the pool, which the store compares with the exact level.
 */
export class Lender {
  readonly #time: Time;
  readonly #emit: EventSink;
  // By bucket. Two maps, because finding the oldest entry of one large map can be slow after many deletions.
  #borrowed = new Map<string, Borrowed>();
  #borrowedBefore: ReadonlyMap<string, Borrowed> = new Map<string, Borrowed>();
  /** When the current period began. */
  #sinceMicros = 0;

  constructor(time: Time, emit: EventSink) {
    this.#time = time;
    this.#emit = emit;
  }

  /**
   * Returns the alternatives to a batch, in the order in which they are tried: own tokens before borrowed ones.
   *
   * @throws {SluiceError} The errors of {@link checkLoans}.
   */
  alternativesOf(batch: Batch): readonly Batch[] {
    return batch.some(borrows) ? [this.assuredOf(batch), ...this.lentOf(batch)] : [batch];
  }

  /**
   * Returns the first alternative of a batch in which a limit borrows: own tokens alone.
   *
   * @throws {SluiceError} The errors of {@link checkLoans}.
   */
  assuredOf(batch: Batch): Batch {
    if (batch.length > 1 || batch[0]!.mode === 'spend-only')
      checkUsed(batch.map(({ limit, mode, treatment }) => ({ limit, mode, borrowing: borrowingOf(treatment) })));
    return assuredBatch(batch);
  }

  /** Returns the other alternatives: each way to borrow for some limits, and to use own tokens for the others. */
  lentOf(batch: Batch): readonly Batch[] {
    if (batch.length === 1) {
      const loan = this.#lentLoanOf(batch[0]!);
      return loan === undefined ? [] : [loan];
    }
    // Sets of loans by the index of their transaction. The first one lends nothing, and is the alternative of own
    // tokens.
    let all: readonly ReadonlyMap<number, Loan>[] = [new Map<number, Loan>()];
    for (const [i, transaction] of batch.entries()) {
      const loan = this.#lentLoanOf(transaction);
      if (loan !== undefined) all = [...all, ...all.map((lent) => new Map([...lent, [i, loan]]))];
    }
    return all
      .slice(1)
      .map((lent) => withLoans(batch, (one, borrowing, i) => lent.get(i) ?? assuredLoan(one, borrowing)));
  }

  /** Records the tokens that a decision has lent. */
  noteLent({ results }: Decided, batch: Batch): void {
    for (const result of results) {
      if (!result.borrowed || result.spent === 0) continue;
      const lent = batch.find(({ limit, id }) => limit === result.limit && id === result.id);
      if (lent !== undefined && borrowingOf(lent.treatment)?.fair === true) this.#note(mapKeyOf(result), result.spent);
    }
  }

  /** Returns `undefined` if nothing can be borrowed. */
  #lentLoanOf(transaction: Transaction): Loan | undefined {
    const borrowing = borrowingOf(transaction.treatment);
    if (borrowing === undefined || transaction.mode === 'charge') return undefined;
    const share = borrowing.fair ? this.#fairShare(transaction, borrowing) : 1;
    return share > 0 ? borrowedLoan(transaction, borrowing, share) : undefined;
  }

  #fairShare(transaction: Transaction, borrowing: Borrowing): number {
    const known = this.#borrowedBy(mapKeyOf(transaction));
    if (known === undefined) return 1;
    const tokens = decayed(known, this.#time.nowMicros());
    const weight = this.#weightOf(transaction, borrowing);
    return 1 - (tokens * borrowing.pool.rate.emissionIntervalTicks) / (WINDOW_TICKS * GAIN * weight);
  }

  #weightOf({ limit, id, rate }: Transaction, { weight }: Borrowing): number {
    if (rate.borrow?.weight !== undefined) return rate.borrow.weight;
    if (typeof weight === 'number') return weight;
    try {
      const given: unknown = toNativePromise<unknown>(weight(id));
      // A promise is a wrong value, which the error below reports. Its rejection must not be unhandled.
      if (given instanceof Promise) given.catch(() => undefined);
      checkFraction('borrow.weight', given, WEIGHT);
      return given;
    } catch (cause) {
      const message = `The weight function of limit "${limit}" failed (${reasonOf(cause)}). The weight 1 was used.`;
      this.#emit({ type: 'callback-failed', callback: 'weight', cause, message });
      return 1;
    }
  }

  #borrowedBy(client: string): Borrowed | undefined {
    return this.#borrowed.get(client) ?? this.#borrowedBefore.get(client);
  }

  #note(client: string, tokens: number): void {
    const atMicros = this.#time.nowMicros();
    const known = this.#borrowedBy(client);
    if (atMicros - this.#sinceMicros >= FORGOTTEN_MICROS || this.#borrowed.size >= MAX_CLIENTS) {
      this.#borrowedBefore = this.#borrowed;
      this.#borrowed = new Map<string, Borrowed>();
      this.#sinceMicros = atMicros;
    }
    this.#borrowed.set(client, { tokens: tokens + (known === undefined ? 0 : decayed(known, atMicros)), atMicros });
  }
}

function decayed({ tokens, atMicros }: Borrowed, nowMicros: number): number {
  return tokens * Math.exp((atMicros - nowMicros) / WINDOW_MICROS);
}

/**
 * Rejects limits that can't be decided together because of what they borrow.
 *
 * @throws {SluiceError} `ERR_OPTION` for the mode `spend-only` of a limit that borrows, and for too many limits;
 * `ERR_DUPLICATE_BUCKET` when two of them use one pool.
 */
export function checkLoans(uses: readonly LinkedUse[]): void {
  checkUsed(uses.map(({ limit, mode }) => ({ limit: limit.name, mode, borrowing: borrowingOf(limit.treatment) })));
}

interface UsedLimit {
  readonly limit: string;
  readonly mode: string;
  readonly borrowing: Borrowing | undefined;
}

function checkUsed(used: readonly UsedLimit[]): void {
  const users = new Map<string, string>();
  let [transactions, alternatives] = [used.length, 1];
  for (const { limit, mode, borrowing } of used) {
    if (borrowing === undefined) continue;
    if (mode === 'spend-only') throw spendOnly(limit);
    const pool = borrowing.pool.name;
    const other = used.some((each) => each.limit === pool) ? pool : users.get(pool);
    if (other !== undefined) throw poolTwice(pool, limit, other);
    users.set(pool, limit);
    transactions += 2;
    if (mode !== 'charge') alternatives *= 2;
  }
  if (users.size === 0) return;
  checkAlternatives(alternatives);
  if (transactions > MAX_TRANSACTIONS) throw tooManyBuckets(transactions);
}

/**
 * Rejects more alternatives than a store tries in one call.
 *
 * @throws {SluiceError} `ERR_OPTION`.
 */
export function checkAlternatives(count: number): void {
  if (count <= MAX_ALTERNATIVES) return;
  throw complaint('ERR_OPTION', {
    option: 'entries',
    demand: `decided by at most ${MAX_ALTERNATIVES} alternatives: each limit that borrows doubles their number`,
    value: count,
    remedy: 'Decide fewer limits that borrow together, or give `firstOf` fewer alternatives.',
  });
}

function spendOnly(limit: string): SluiceError {
  return complaint('ERR_OPTION', {
    option: 'mode',
    limit,
    demand: "'check-and-spend', 'check-only' or 'charge', because the limit borrows",
    value: 'spend-only',
    remedy: "To count without denying use mode: 'charge', or `shadow: true` of the middleware.",
  });
}

function poolTwice(pool: string, limit: string, other: string): SluiceError {
  const what =
    other === pool
      ? `names "${shownName(pool)}" itself beside "${shownName(limit)}", which borrows from it and takes its tokens anyway`
      : `takes from "${shownName(pool)}" twice, for "${shownName(other)}" and for "${shownName(limit)}"`;
  const remedy =
    other === pool ? `Leave out "${shownName(pool)}".` : 'Decide them in two calls, or give each limit its own pool.';
  return new SluiceError('ERR_DUPLICATE_BUCKET', `The batch ${what}. ${remedy}`);
}

function tooManyBuckets(count: number): SluiceError {
  return complaint('ERR_OPTION', {
    option: 'entries',
    demand: `decided by at most ${MAX_TRANSACTIONS} buckets, because one of the limits borrows; each such limit needs three`,
    value: count,
    remedy: 'Decide the other limits in a second call, or in a second `rateLimit`.',
  });
}
