import { canDeny, levelAfter, passes } from '../store/transaction-rule.ts';
import { Decision, type BucketState, type DecisionFigures, type Result } from './decision.ts';
import type { Blocked, Answered, Unanswered } from './batch-answer.ts';
import { fits, remainingTokens, waitFor } from '../rule/gcra.ts';
import { periodLeft, ticksUntilFit, ticksUntilFull, type PeriodLeft } from './period-left.ts';
import type { StoreReading } from '../store/store.ts';
import { isInternal } from './loan.ts';
import { strictestOf } from './strictness.ts';
import { ceilToMs } from '../rule/ticks.ts';
import type { Rate } from '../rule/rate.ts';
import { isBlocked, readyTicks, type Transaction } from './transaction.ts';

/**
 * The wait that is reported when a limit is `closed` because its store can't answer. The end of the outage is unknown.
 * One second is the shortest wait that Retry-After can express, and the store is tried up to ten times in it.
 */
const UNAVAILABLE_RETRY_MS = 1000;

/** The figures of a decision to which no limit applied. It is allowed. */
const NO_LIMIT: DecisionFigures = {
  limit: null,
  id: null,
  blocked: false,
  remaining: Infinity,
  retryAfterMs: 0,
  resetAfterMs: 0,
};

/**
 * Derives a decision from the answer of a store or of a failure policy.
 *
 * @param takes - True for `spend`, false for `check`, which takes nothing.
 */
export function decisionOf(answer: Answered | Unanswered, takes: boolean): Decision {
  return answer.available ? decided(answer, takes) : unavailable(answer);
}

/**
 * Denies a batch that contains a blocked id. Only the blocked ids have results, because the store is not asked about
 * the others.
 *
 * @param batch - At least one of its ids is blocked.
 * @param owner - The gate of the limiter that decides.
 */
export function blockedDecision(batch: readonly Transaction[], owner: object): Decision {
  return blocked({ available: false, batch: batch.filter(isBlocked), failure: undefined, owner });
}

/**
 * Denies a batch by its load limits. Only these have results, because neither the other limits nor the store are asked.
 *
 * @param waitsMs - How long each of the clients will probably be denied.
 * @param owner - The gate of the limiter that decides.
 */
export function shedDecision(batch: readonly Transaction[], waitsMs: readonly number[], owner: object): Decision {
  const results = batch.map((transaction, i): Result => {
    return { ...blockedResult(transaction), blocked: false, retryAfterMs: waitsMs[i]!, resetAfterMs: waitsMs[i]! };
  });
  const longest = results.reduce((one, other) => (other.retryAfterMs > one.retryAfterMs ? other : one));
  return new Decision({ available: false, batch, failure: undefined, owner }, 'denied', longest, results);
}

/**
 * Makes the decision on a request that waited for its turn when the limiter was closed. Its tokens were given back.
 *
 * @param cause - The error that says so.
 */
export function closedDecision(decision: Decision, cause: unknown): Decision {
  const { batch, owner } = Decision.answerOf(decision);
  const waiting = batch.filter(({ lineTicks }) => lineTicks !== undefined);
  return unavailable({ available: false, batch: waiting, failure: { policy: 'closed', cause }, owner });
}

function blocked(answer: Blocked): Decision {
  const results = answer.batch.map(blockedResult);
  return new Decision(answer, 'denied', results[0]!, results);
}

function blockedResult({ limit, id, cost, mode, rate, overridden, treatment, period }: Transaction): Result {
  const { burst, count } = rate;
  const periodMs = period === undefined ? rate.periodMs : period[1] - period[0];
  return {
    limit,
    id,
    cost,
    spent: 0,
    mode,
    allowed: false,
    blocked: true,
    borrowed: false,
    remaining: 0,
    retryAfterMs: Infinity,
    resetAfterMs: Infinity,
    burst,
    count,
    periodMs,
    overridden,
    hidden: treatment.hidden,
  };
}

function unavailable(answer: Unanswered): Decision {
  const { limit, id } = answer.batch[0]!;
  const retryAfterMs = UNAVAILABLE_RETRY_MS;
  const figures = { limit, id, blocked: false, remaining: 0, retryAfterMs, resetAfterMs: retryAfterMs };
  return new Decision(answer, 'unavailable', figures, []);
}

function decided(answer: Answered, takes: boolean): Decision {
  const { batch, reading } = answer;
  const levels = reading.levelsTicks;
  const passed = passes(batch, levels);
  const count = hasLoans(batch) ? resultCount(batch) : batch.length;
  // A loop over a preallocated array: see docs/hot-path.md.
  // oxlint-disable-next-line unicorn/no-new-array
  const results = new Array<Result>(count);
  let delayTicks = 0;
  for (let i = 0; i < count; i++) {
    const transaction = batch[i]!;
    const before = levels[i]!;
    const after = takes && passed ? levelAfter(transaction, before) : before;
    results[i] = resultOf(answer, i, after, passed);
    if (transaction.lineTicks !== undefined && passed) delayTicks = Math.max(delayTicks, delayOf(transaction, before));
  }
  if (count < batch.length) foldLoans(answer, results, takes && passed);
  const figures = results[strictestOf(answer, results)] ?? NO_LIMIT;
  return new Decision(answer, passed ? 'allowed' : 'denied', figures, results, ceilToMs(delayTicks));
}

/** The time until the tokens that a transaction of a batch that passes takes, or has to find, are there, in ticks. */
function delayOf({ mode, incrementTicks, fitTicks, rate }: Transaction, before: number): number {
  const waits = canDeny(mode) || (mode === 'spend-only' && fits(before, incrementTicks, fitTicks));
  return waits ? waitFor(before, incrementTicks, rate.toleranceTicks) : 0;
}

/** Whether limits borrow in a batch. A loan has three transactions, so of most batches only the length is read. */
function hasLoans(batch: readonly Transaction[]): boolean {
  return batch.length > 2 && isInternal(batch[batch.length - 1]!);
}

/** The number of transactions that have a result: those of ceilings and pools follow after them, see `Loan`. */
function resultCount(batch: readonly Transaction[]): number {
  let count = batch.length;
  while (count > 0 && isInternal(batch[count - 1]!)) count--;
  return count;
}

/** Replaces the results of own buckets by those of loans. */
function foldLoans(answer: Answered, results: Result[], took: boolean): void {
  const { batch } = answer;
  let next = results.length;
  for (let i = 0; i < results.length; i++) {
    const { mode, treatment } = batch[i]!;
    if (treatment.part !== 'assured') continue;
    // The id's own tokens were taken, as of any limit: the other two buckets add nothing to the result.
    if (mode !== 'check-and-spend' || !took) results[i] = loanResult(answer, results[i]!, next, took);
    next += 2;
  }
}

/** @param next - The index of the ceiling; the pool follows. */
function loanResult({ batch, reading }: Answered, own: Result, next: number, took: boolean): Result {
  const ceiling = batch[next]!;
  const pool = batch[next + 1]!;
  const ceilingLevel = reading.levelsTicks[next]!;
  const poolLevel = reading.levelsTicks[next + 1]!;
  const waitTicks = Math.max(ticksUntilPassed(ceiling, ceilingLevel), ticksUntilPassed(pool, poolLevel));
  const allowed = own.allowed && waitTicks === 0;
  const isLent = pool.mode !== 'charge';
  const spent = took ? Math.max(tokensTaken(ceiling, ceilingLevel), tokensTaken(pool, poolLevel)) : 0;
  // Written out, because a spread costs more than the decision: see docs/hot-path.md.
  return {
    limit: own.limit,
    id: own.id,
    cost: isLent ? ceiling.cost : own.cost,
    spent: Math.max(own.spent, spent),
    mode: ceiling.mode,
    allowed,
    blocked: false,
    // Own tokens may have come back since the store denied them, at a clock that moves between two calls.
    borrowed: isLent && allowed && own.spent === 0,
    remaining: own.remaining,
    retryAfterMs: Math.max(own.retryAfterMs, ceilToMs(waitTicks)),
    resetAfterMs: own.resetAfterMs,
    burst: own.burst,
    count: own.count,
    periodMs: own.periodMs,
    overridden: own.overridden,
    hidden: own.hidden,
  };
}

function ticksUntilPassed({ mode, incrementTicks, fitTicks }: Transaction, level: number): number {
  return canDeny(mode) ? waitFor(level, incrementTicks, fitTicks) : 0;
}

/**
 * @param after - The level after the decision.
 * @param passed - Whether the whole batch passed: then each transaction that can deny fits.
 */
function resultOf({ batch, reading }: Answered, index: number, after: number, passed: boolean): Result {
  const transaction = batch[index]!;
  const before = reading.levelsTicks[index]!;
  const left = periodLeft(transaction, reading, index);
  const { limit, id, cost, mode, rate, overridden, treatment, incrementTicks, fitTicks } = transaction;
  const allowed = passed || !canDeny(mode) || fits(before, incrementTicks, fitTicks);
  return {
    limit,
    id,
    cost,
    spent: after === before ? 0 : spentTokens(transaction, after - before),
    mode,
    allowed,
    blocked: false,
    borrowed: false,
    remaining: remainingTokens(after, rate.emissionIntervalTicks, readyTicks(transaction)),
    retryAfterMs: allowed ? 0 : ceilToMs(ticksUntilFit(transaction, after, left)),
    resetAfterMs: ceilToMs(ticksUntilFull(after, left)),
    burst: rate.burst,
    count: rate.count,
    periodMs: periodMsOf(rate, left),
    overridden,
    hidden: treatment.hidden,
  };
}

/** Returns the tokens that a transaction of a batch that passed took from its bucket. */
export function tokensTaken(transaction: Transaction, before: number): number {
  const after = levelAfter(transaction, before);
  return after === before ? 0 : spentTokens(transaction, after - before);
}

function periodMsOf(rate: Rate, left: PeriodLeft | undefined): number {
  return left === undefined ? rate.periodMs : left.endMs - left.startMs;
}

// A charge may have taken less than its cost: up to an empty bucket.
function spentTokens({ mode, cost, rate }: Transaction, takenTicks: number): number {
  return mode === 'charge' ? Math.floor(takenTicks / rate.emissionIntervalTicks) : cost;
}

/** Returns the states of buckets after a charge or a refund. */
export function bucketStates(
  batch: readonly Omit<Transaction, 'mode'>[],
  reading: StoreReading,
): readonly BucketState[] {
  const visible = batch.filter((transaction) => !isInternal(transaction));
  return visible.map((transaction, i) => {
    const { limit, id, rate, overridden } = transaction;
    const level = reading.levelsTicks[i]!;
    const left = periodLeft(transaction, reading, i);
    const { emissionIntervalTicks, toleranceTicks } = rate;
    return {
      limit,
      id,
      remaining: remainingTokens(level, emissionIntervalTicks, toleranceTicks),
      resetAfterMs: ceilToMs(ticksUntilFull(level, left)),
      burst: rate.burst,
      count: rate.count,
      periodMs: periodMsOf(rate, left),
      overridden,
    };
  });
}
