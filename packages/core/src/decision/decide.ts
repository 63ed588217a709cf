// The room decision: what a batch is, and from the answer of a store to a decision.
import { remainingTokens } from '../rule/gcra.ts';
import { ceilToMs } from '../rule/ticks.ts';
import type { StoreReading } from '../store/store.ts';
import { canEverPass } from './batch.ts';
import type { Origin } from './batch-answer.ts';
import { Decided } from './decided.ts';
import { periodLeft, ticksUntilFull } from './period-left.ts';
import type { BucketState, Result } from './result.ts';
import { blockedResult } from './results.ts';
import { isBlocked, isInternal, type Transaction } from './transaction.ts';

/**
 * Denies a batch that contains a blocked id. Only the blocked ids have results, because the store is not asked about
 * the others.
 *
 * @param batch - At least one of its ids is blocked.
 * @param owner - The gate of the limiter that decides.
 */
export function blockedDecision(batch: readonly Transaction[], owner: object): Decided {
  const blocked = batch.filter(isBlocked);
  return undecided(blocked, { owner, failure: undefined }, -1, blocked.map(blockedResult));
}

/**
 * Denies a batch by its load limits. Only these have results, because neither the other limits nor the store are asked.
 *
 * @param waitsMs - How long each of the clients will probably be denied.
 * @param owner - The gate of the limiter that decides.
 */
export function shedDecision(batch: readonly Transaction[], waitsMs: readonly number[], owner: object): Decided {
  const results = batch.map((transaction, i): Result => {
    return { ...blockedResult(transaction), blocked: false, retryAfterMs: waitsMs[i]!, resetAfterMs: waitsMs[i]! };
  });
  return undecided(batch, { owner, failure: undefined }, -1, results);
}

/**
 * Denies a batch with costs that can never pass, where costs come from data. Nothing is taken of its other limits.
 *
 * @param others - What a check decides on the others. It remains when the store can't answer.
 */
export function neverDecision(batch: readonly Transaction[], others: Decided): Decided {
  if (others.outcome === 'unavailable') return others;
  const never = batch.filter((transaction) => !canEverPass(transaction));
  const results = [...never.map((each): Result => ({ ...blockedResult(each), blocked: false })), ...others.results];
  return undecided([...never, ...others.batch], others.origin, -1, results);
}

/**
 * Makes the decision on a request that waited for its turn when the limiter was closed. Its tokens were given back.
 *
 * @param cause - The error that says so.
 */
export function closedDecision({ batch, origin }: Decided, cause: unknown): Decided {
  const waiting = batch.filter(({ lineTicks }) => lineTicks !== undefined);
  return unavailable(waiting, origin.owner, cause);
}

/**
 * Denies what could not begin before its caller gave up. No limit is to blame: no store was asked, or what it took was given
 * back.
 *
 * @param owner - The gate of the limiter that decides.
 */
export function lateDecision(owner: object): Decided {
  return undecided([], { owner, failure: undefined, reason: 'deadline' }, -1, []);
}

/**
 * Makes the decision on a batch that no store and no policy has decided.
 *
 * @param batch - The transactions that are to blame.
 * @param cause - Why the store can't answer.
 */
function unavailable(batch: readonly Transaction[], owner: object, cause: unknown): Decided {
  return undecided(batch, { owner, failure: { policy: 'closed', cause } }, undefined, []);
}

/**
 * What a gate makes decisions with: that of the limiter, because its store may be from another copy of the package. Bundles and
 * hot reload load several.
 */
export interface DecisionMaker {
  readonly Decided: typeof Decided;
  readonly unavailable: typeof unavailable;
}

/** That of this copy. */
export const DECISION_MAKER: DecisionMaker = { Decided, unavailable };

/** Makes a decision without a store. */
function undecided(
  batch: readonly Transaction[],
  from: Pick<Origin, 'owner' | 'failure' | 'reason'>,
  passed: -1 | undefined,
  results: readonly Result[],
): Decided {
  const reading = { nowTicks: NaN, levelsTicks: [] };
  const decided = new Decided(batch, { ...from, takes: false, store: undefined }, reading, results);
  decided.passed = passed;
  return decided;
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
      periodMs: left === undefined ? rate.periodMs : left.endMs - left.startMs,
      overridden,
    };
  });
}
