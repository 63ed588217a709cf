// The room decision: what a batch is, and from the answer of a store to a decision.
import { canDeny, levelAfter } from '../store/transaction-rule.ts';
import { canEverPass } from './batch.ts';
import { Decision, type DecisionFigures } from './decision.ts';
import type { BucketState, Result } from './result.ts';
import { blockedResult, periodMsOf, deniedResults, resultsOf } from './results.ts';
import type { Answered, BatchAnswer, Unanswered } from './batch-answer.ts';
import { fits, remainingTokens, waitFor } from '../rule/gcra.ts';
import { periodLeft, ticksUntilFit, ticksUntilFull } from './period-left.ts';
import type { StoreReading } from '../store/store.ts';
import { strictestOf } from './strictness.ts';
import { ceilToMs } from '../rule/ticks.ts';
import { isInternal, isBlocked, readyTicks, type Transaction } from './transaction.ts';

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
export function decisionOf(answer: BatchAnswer, takes: boolean): Decision {
  return answer.available ? decided(answer, takes) : unavailable(answer);
}

/** Derives a decision from the answer of a store: what passed is what the store says, and its levels are for figures. */
export function decided(answer: Answered, takes: boolean): Decision {
  const passed = answer.reading.passed === 0;
  return (answer.batch.length === 1 ? decidedAlone : decidedTogether)(answer, passed, takes && passed);
}

/**
 * Denies a batch that contains a blocked id. Only the blocked ids have results, because the store is not asked about
 * the others.
 *
 * @param batch - At least one of its ids is blocked.
 * @param owner - The gate of the limiter that decides.
 */
export function blockedDecision(batch: readonly Transaction[], owner: object): Decision {
  const blocked = batch.filter(isBlocked);
  const results = blocked.map(blockedResult);
  return new Decision({ available: false, batch: blocked, failure: undefined, owner }, 'denied', results[0]!, results);
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
 * Denies a batch with costs that can never pass, where costs come from data. Nothing is taken of its other limits.
 *
 * @param others - What a check decides on the others. It remains when the store can't answer.
 */
export function neverDecision(batch: readonly Transaction[], others: Decision): Decision {
  if (others.outcome === 'unavailable') return others;
  const answer = Decision.answerOf(others);
  const never = batch.filter((transaction) => !canEverPass(transaction));
  const results = [...never.map((each): Result => ({ ...blockedResult(each), blocked: false })), ...others.results];
  const unanswered = { ...answer, available: false, batch: [...never, ...answer.batch] } as const;
  return new Decision(unanswered, 'denied', results[0]!, results);
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

function unavailable(answer: Unanswered): Decision {
  const { limit, id } = answer.batch[0]!;
  const retryAfterMs = UNAVAILABLE_RETRY_MS;
  const figures = { limit, id, blocked: false, remaining: 0, retryAfterMs, resetAfterMs: retryAfterMs };
  return new Decision(answer, 'unavailable', figures, []);
}

function decidedTogether(answer: Answered, passed: boolean, took: boolean): Decision {
  const results = passed ? resultsOf(answer, passed, took) : deniedResults(answer);
  const figures = results[strictestOf(answer, results)] ?? NO_LIMIT;
  return new Decision(answer, passed ? 'allowed' : 'denied', figures, results, passed ? delayMsOf(answer) : 0, took);
}

/** The decision on a batch of one transaction: its figures are those of the result, which is not made for them. */
function decidedAlone(answer: Answered, passed: boolean, took: boolean): Decision {
  const { reading } = answer;
  const transaction = answer.batch[0]!;
  const before = reading.levelsTicks[0]!;
  const level = took ? levelAfter(transaction, before) : before;
  const left = periodLeft(transaction, reading, 0);
  const figures = {
    limit: transaction.limit,
    id: transaction.id,
    blocked: false,
    remaining: remainingTokens(level, transaction.rate.emissionIntervalTicks, readyTicks(transaction)),
    retryAfterMs: passed ? 0 : ceilToMs(ticksUntilFit(transaction, level, left)),
    resetAfterMs: ceilToMs(ticksUntilFull(level, left)),
  };
  const delayMs = passed && transaction.lineTicks !== undefined ? delayMsOf(answer) : 0;
  return new Decision(answer, passed ? 'allowed' : 'denied', figures, undefined, delayMs, took);
}

/** The longest delay of the transactions of a batch that passes. */
function delayMsOf({ batch, reading }: Answered): number {
  let ticks = 0;
  for (let i = 0; i < batch.length; i++) {
    const transaction = batch[i]!;
    if (transaction.lineTicks === undefined || isInternal(transaction)) continue;
    ticks = Math.max(ticks, delayOf(transaction, reading.levelsTicks[i]!));
  }
  return ceilToMs(ticks);
}

/** The name of the limit whose delay a decision has: the longest one. Only for decisions with a delay. */
export function delayingLimit({ batch, reading }: Answered): string {
  const delays = batch.map((transaction, i) =>
    transaction.lineTicks === undefined || isInternal(transaction) ? 0 : delayOf(transaction, reading.levelsTicks[i]!),
  );
  return batch[delays.indexOf(Math.max(...delays))]!.limit;
}

/** The time until the tokens that a transaction of a batch that passes takes, or has to find, are there, in ticks. */
function delayOf({ mode, incrementTicks, fitTicks, rate }: Transaction, before: number): number {
  const waits = canDeny(mode) || (mode === 'spend-only' && fits(before, incrementTicks, fitTicks));
  return waits ? waitFor(before, incrementTicks, rate.toleranceTicks) : 0;
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
    return {
      limit,
      id,
      remaining: remainingTokens(level, rate.emissionIntervalTicks, rate.toleranceTicks),
      resetAfterMs: ceilToMs(ticksUntilFull(level, left)),
      burst: rate.burst,
      count: rate.count,
      periodMs: periodMsOf(rate, left),
      overridden,
    };
  });
}
