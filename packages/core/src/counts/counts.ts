import type { Decided } from '../decision/decided.ts';
import type { Outcome } from '../decision/decision.ts';
import { delayingLimit } from '../decision/results.ts';
import { readyTicks, type Transaction } from '../decision/transaction.ts';
import type { Limiter } from '../limiter/limiter.ts';
import type { LimiterCore } from '../limiter/limiter-core.ts';
import type { Correction, Observer } from '../limiter/observer.ts';
import { remainingTokens } from '../rule/gcra.ts';
import { DURATION_BOUNDS, Histogram } from './histogram.ts';
import type { SyncListener } from './lease-counts.ts';
import { LimitTally, type DecidedBy } from './limit-tally.ts';
import { tellAll } from './tell-all.ts';

const ofLimiters = new WeakMap<LimiterCore<never>, Counts>();

/**
 * Returns the counts of a limiter, which begin with the first call. There is one for each limiter, whoever asks. The counts of
 * a limit go on after `replace`, and those of a limit that was removed stay.
 */
export function countsOf(limiter: LimiterCore<never>): Counts {
  let counts = ofLimiters.get(limiter);
  if (counts === undefined) {
    counts = new Counts(new Date(limiter.time.wallNow()));
    ofLimiters.set(limiter, counts);
    limiter.observe(counts);
  }
  return counts;
}

/** All that is counted of one limiter. What is counted for each decision is plain numbers. */
export class Counts implements Observer {
  readonly since: Date;
  /** The durations of decisions by a store that does not answer at once, in seconds, by their outcome. */
  readonly durations: Readonly<Record<Outcome, Histogram>> = {
    allowed: new Histogram(DURATION_BOUNDS),
    denied: new Histogram(DURATION_BOUNDS),
    unavailable: new Histogram(DURATION_BOUNDS),
  };
  /** By the name of the limit; '' for decisions to which no limit applied. */
  readonly byLimit: Map<string, LimitTally> = new Map<string, LimitTally>();
  /** Called with the duration of each such decision, and with the wait of each that is queued, in seconds. */
  readonly listeners: Set<CountsListener> = new Set<CountsListener>();

  constructor(since: Date) {
    this.since = since;
  }

  of(limit: string): LimitTally {
    let tally = this.byLimit.get(limit);
    if (tally === undefined) this.byLimit.set(limit, (tally = new LimitTally()));
    return tally;
  }

  decided(decision: Decided, shadow: boolean): void {
    const { batch, origin, durationMs } = decision;
    const by: DecidedBy = origin.failure === undefined ? 'store' : origin.failure.policy;
    const limit = decision.limit ?? origin.open?.[0]?.limit ?? '';
    this.of(limit).countDecision(decision.outcome, by, shadow);
    if (isOneRequest(decision)) this.#countRequest(decision, batch[0]!, shadow);
    else this.#countResults(decision, shadow);
    if (durationMs !== undefined) this.#addDuration(decision, durationMs / 1000);
    if (decision.delayMs > 0 && !shadow) this.#addWait(delayingLimit(decision), decision.delayMs / 1000);
  }

  corrected({ limit, cost, direction }: Correction): void {
    if (direction === 'settled' || direction === 'reset' || direction === 'blocked' || direction === 'unblocked')
      return;
    this.of(limit)[direction] += cost;
  }

  closed(limiter: Limiter<never>): void {
    tellAll(this.listeners, (listener) => listener.closed?.(limiter));
  }

  /** Its figures are those of the decision. Most decisions are such: making the result would cost more than counting it. */
  #countRequest({ allowed, remaining }: Decided, transaction: Transaction, shadow: boolean): void {
    const tally = this.of(transaction.limit);
    if (allowed) tally.taken += transaction.cost;
    else tally.countDenial(transaction.id, shadow);
    tally.countUse(partUsed(remaining, transaction));
  }

  #countResults({ results, batch }: Decided, shadow: boolean): void {
    for (const [i, { limit, id, allowed, spent, remaining, kind, retryAfterMs }] of results.entries()) {
      const tally = this.of(limit);
      if (!allowed) tally.countDenial(id, shadow);
      tally.taken += spent;
      // A limit without a bucket, or a request that can never pass, uses no part of a burst.
      if (kind !== 'load' && retryAfterMs !== Infinity) tally.countUse(partUsed(remaining, batch[i]!));
    }
  }

  #addDuration({ outcome }: Decided, seconds: number): void {
    this.durations[outcome].add(seconds);
    tellAll(this.listeners, (listener) => listener.duration(seconds, outcome));
  }

  #addWait(limit: string, seconds: number): void {
    this.of(limit).waits.add(seconds);
    tellAll(this.listeners, (listener) => listener.wait(seconds, limit));
  }
}

/** Receives what can't be counted by numbers that are read now and then, and the end. Errors that it throws are ignored. */
export interface CountsListener extends SyncListener {
  /** How long a decision took. */
  duration(seconds: number, outcome: Outcome): void;
  /** How long a request has to wait in the queue of a limit. */
  wait(seconds: number, limit: string): void;
  /** A limiter was closed: what it has counted is complete. */
  closed?(limiter: Limiter<never>): void;
}

/** Whether an answer is on one limit alone that a store decided as it is. */
function isOneRequest({ origin, batch }: Decided): boolean {
  return (
    origin.store !== undefined &&
    batch.length === 1 &&
    batch[0]!.mode === 'check-and-spend' &&
    batch[0]!.treatment.isPlain
  );
}

/** The part of a bucket that is used, in whole tokens: of what the transaction's share of it contains. */
function partUsed(remaining: number, transaction: Transaction): number {
  const size = remainingTokens(0, transaction.rate.emissionIntervalTicks, readyTicks(transaction));
  return (size - remaining) / Math.max(1, size);
}
