import { fits, remainingTokens, waitFor } from '../rule/gcra.ts';
import { ceilToMs } from '../rule/ticks.ts';
import { canDeny, levelAfter } from '../store/transaction-rule.ts';
import type { Judged } from './batch-answer.ts';
import type { Decision } from './decision.ts';
import { periodLeft, ticksUntilFit, ticksUntilFull } from './period-left.ts';
import { notePending } from './pending-tokens.ts';
import type { Result } from './result.ts';
import { isInternal, readyTicks, type Transaction } from './transaction.ts';

/** The figures of a decision as a whole. */
export type Figures = Pick<Decision, 'limit' | 'id' | 'blocked' | 'remaining' | 'retryAfterMs' | 'resetAfterMs'>;

/** Returns the figures of a decision that one limit has allowed: those of its result, which is not made for them. */
export function allowedFigures(decided: Judged): Figures {
  const transaction = decided.batch[0]!;
  const before = decided.levelsTicks[0]!;
  const after = decided.origin.takes ? levelAfter(transaction, before) : before;
  const { limit, id, rate } = transaction;
  const left = rate.kind.level === 'falls' ? undefined : periodLeft(transaction, decided, 0);
  const remaining = remainingTokens(after, rate.emissionIntervalTicks, readyTicks(transaction));
  const resetAfterMs = ceilToMs(left === undefined ? after : ticksUntilFull(after, left));
  return { limit, id, blocked: false, remaining, retryAfterMs: 0, resetAfterMs };
}

/** Derives the results of a decision from its levels. */
export function resultsOf(decided: Judged): readonly Result[] {
  const { batch, passed, origin } = decided;
  const took = passed === 0 && origin.takes;
  const count = batch.length > 2 ? resultCount(batch) : batch.length;
  // A loop over a preallocated array, which is faster than map.
  // oxlint-disable-next-line unicorn/no-new-array
  const results = new Array<Result>(count);
  for (let i = 0; i < count; i++) results[i] = resultOf(decided, i, passed === 0, took);
  if (count < batch.length) foldLoans(decided, results, took);
  if (passed !== 0) notePending(origin.owner, results);
  return results;
}

/**
 * The number of transactions that have a result: those of ceilings and pools follow after them, see `Loan`. A loan has three
 * transactions, so of smaller batches all.
 */
export function resultCount(batch: readonly Transaction[]): number {
  let count = batch.length;
  while (count > 0 && isInternal(batch[count - 1]!)) count--;
  return count;
}

/** Adds to the results of own buckets what the loans change. */
function foldLoans(decided: Judged, results: readonly Result[], took: boolean): void {
  const { batch } = decided;
  let next = results.length;
  for (let i = 0; i < results.length; i++) {
    const { mode, treatment } = batch[i]!;
    if (treatment.part !== 'assured') continue;
    // The id's own tokens were taken, as of any limit: the other two buckets add nothing to the result.
    if (mode !== 'check-and-spend' || !took) foldLoan(decided, results[i]!, next, took);
    next += 2;
  }
}

type Writable<T> = { -readonly [Name in keyof T]: T[Name] };

/** @param next - The index of the ceiling; the pool follows. */
function foldLoan({ batch, levelsTicks }: Judged, result: Writable<Result>, next: number, took: boolean): void {
  const ceiling = batch[next]!;
  const pool = batch[next + 1]!;
  const ceilingLevel = levelsTicks[next]!;
  const poolLevel = levelsTicks[next + 1]!;
  const waitTicks = Math.max(ticksUntilPassed(ceiling, ceilingLevel), ticksUntilPassed(pool, poolLevel));
  const isLent = pool.mode !== 'charge';
  result.allowed &&= waitTicks === 0;
  // Own tokens may have come back since the store denied them, at a clock that moves between two calls.
  result.borrowed = isLent && result.allowed && result.spent === 0;
  if (isLent) result.cost = ceiling.cost;
  result.mode = ceiling.mode;
  if (took) result.spent = Math.max(result.spent, tokensTaken(ceiling, ceilingLevel), tokensTaken(pool, poolLevel));
  result.retryAfterMs = Math.max(result.retryAfterMs, ceilToMs(waitTicks));
}

function ticksUntilPassed({ mode, incrementTicks, fitTicks }: Transaction, level: number): number {
  return canDeny(mode) ? waitFor(level, incrementTicks, fitTicks) : 0;
}

/** @param passed - Whether the whole batch passed: then each transaction that can deny fits. */
function resultOf(decided: Judged, index: number, passed: boolean, took: boolean): Result {
  const { batch } = decided;
  const transaction = batch[index]!;
  const before = decided.levelsTicks[index]!;
  const after = took ? levelAfter(transaction, before) : before;
  const { limit, id, cost, mode, rate, overridden, treatment, incrementTicks, fitTicks } = transaction;
  // Most levels fall with time.
  const left = rate.kind.level === 'falls' ? undefined : periodLeft(transaction, decided, index);
  // A transaction alone is denied when its batch is, whatever its level is.
  const allowed = passed || !canDeny(mode) || (batch.length > 1 && fits(before, incrementTicks, fitTicks));
  return {
    limit,
    kind: rate.kind.name,
    id,
    cost,
    spent: after === before ? 0 : spentTokens(transaction, after - before),
    mode,
    allowed,
    blocked: false,
    borrowed: false,
    remaining: remainingTokens(after, rate.emissionIntervalTicks, Math.min(fitTicks, rate.toleranceTicks)),
    retryAfterMs: allowed ? 0 : ceilToMs(ticksUntilFit(transaction, after, left)),
    resetAfterMs: ceilToMs(left === undefined ? after : ticksUntilFull(after, left)),
    burst: rate.burst,
    count: rate.count,
    periodMs: left === undefined ? rate.periodMs : left.endMs - left.startMs,
    overridden,
    hidden: treatment.hidden,
  };
}

/** The result of a transaction that no wait lets pass. */
export function blockedResult({ limit, id, cost, mode, rate, overridden, treatment, period }: Transaction): Result {
  return {
    limit,
    kind: rate.kind.name,
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
    burst: rate.burst,
    count: rate.count,
    periodMs: period === undefined ? rate.periodMs : period[1] - period[0],
    overridden,
    hidden: treatment.hidden,
  };
}

/** Returns the tokens that a transaction of a batch that passed took from its bucket. */
export function tokensTaken(transaction: Transaction, before: number): number {
  const after = levelAfter(transaction, before);
  return after === before ? 0 : spentTokens(transaction, after - before);
}

// A charge may have taken less than its cost: up to an empty bucket.
function spentTokens({ mode, cost, rate }: Transaction, takenTicks: number): number {
  return mode === 'charge' ? Math.floor(takenTicks / rate.emissionIntervalTicks) : cost;
}

/** The longest delay of the transactions of a batch that passes. */
export function delayMsOf({ batch, levelsTicks }: Judged): number {
  let ticks = 0;
  for (let i = 0; i < batch.length; i++) ticks = Math.max(ticks, delayOf(batch[i]!, levelsTicks[i]!));
  return ceilToMs(ticks);
}

/** The name of the limit whose delay a decision has: the longest one. Only for decisions with a delay. */
export function delayingLimit({ batch, levelsTicks }: Judged): string {
  const delays = batch.map((transaction, i) => delayOf(transaction, levelsTicks[i]!));
  return batch[delays.indexOf(Math.max(...delays))]!.limit;
}

/** The time until the tokens that a transaction of a batch that passes takes, or has to find, are there, in ticks. */
function delayOf(transaction: Transaction, before: number): number {
  const { mode, incrementTicks, fitTicks, rate, lineTicks } = transaction;
  if (lineTicks === undefined || isInternal(transaction)) return 0;
  const waits = canDeny(mode) || (mode === 'spend-only' && fits(before, incrementTicks, fitTicks));
  return waits ? waitFor(before, incrementTicks, rate.toleranceTicks) : 0;
}
