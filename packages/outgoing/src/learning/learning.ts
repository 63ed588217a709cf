// The room learning: applies what answers teach to the limits of calls.
import type { Awaitable, Duration, Limiter, SpendEntry } from '@sluice/core';
import { checkOptions, durationTicks, limitsOf, timeOf } from '@sluice/core/kit';
import { TICKS_PER_MICRO } from '@sluice/core/store';
import { LearntBucket } from './learnt-bucket.ts';
import { LearntCall } from './learnt-call.ts';
import { canLearn, targetsOf, type LearnNames } from './targets.ts';

/** What is learnt from the answers of a provider. */
export interface LearnOptions<Name extends string = string> {
  /**
   * Which limit learns from what: the names of limits by those that the provider uses, which are `requests`, `tokens`,
   * `input-tokens`, `output-tokens`, and the names of its policies in `RateLimit`. Default: of the rates that a call costs 1
   * token of, the one that fills fastest learns from requests and denials, and what is left of tokens is not learnt.
   */
  readonly learn?: LearnNames<Name> | undefined;
  /** How long to believe an answer at most: a duration from 1 ms to an hour. Then one call asks again. Default: a minute. */
  readonly learnAtMost?: Duration | undefined;
}

const AT_MOST = { minMs: 1, maxMs: 3_600_000, demand: "from '1ms' to '1h'" };

/** Buckets are looked through when there are twice as many as there were after the last time. */
const FEW_BUCKETS = 1000;

/**
 * Learns from the answers of a provider, downwards only: what is left of its limits, and how long it denies. A limiter shares
 * it with all processes by `Limiter.restrict`. In this process, calls are held back besides: at most as many are on their way
 * as the provider has left, and after a denial is over, one call probes, alone.
 */
export class Learning<Name extends string = string> {
  readonly #limiter: Limiter<never, Name>;
  readonly #learn: LearnNames<Name>;
  readonly #atMostMicros: number;
  /** Of calls that have not ended, and of what was learnt of late. */
  readonly #buckets = new Map<string, LearntBucket>();
  #fewBuckets = FEW_BUCKETS;

  /** @throws {SluiceError} `ERR_OPTION`, `ERR_UNKNOWN_OPTION`, `ERR_DURATION`, `ERR_UNKNOWN_LIMIT`. */
  constructor(limiter: Limiter<never, Name>, options: LearnOptions<Name> = {}) {
    checkOptions('learn', options, ['learn', 'learnAtMost']);
    const { learn = {}, learnAtMost = '1m' } = options;
    canLearn(limiter, learn);
    this.#limiter = limiter;
    this.#learn = learn;
    this.#atMostMicros = durationTicks('learnAtMost', learnAtMost, AT_MOST) / TICKS_PER_MICRO;
  }

  /** Of how many buckets something is known, or a call is on its way. */
  get size(): number {
    return this.#buckets.size;
  }

  /**
   * Waits until a call may be sent, and counts it. Without anything learnt that is at once.
   *
   * @param entries - Those that were spent for the call.
   * @throws {SluiceError} Rejects with the reason of the signal when it is aborted first.
   */
  begin(entries: readonly SpendEntry<Name>[], signal?: AbortSignal): Awaitable<LearntCall> {
    const targets = targetsOf(limitsOf(this.#limiter), entries, this.#learn);
    const counted = targets.map((target) => ({ target, bucket: this.#bucketOf(target.key) }));
    const call = new LearntCall({
      limiter: this.#limiter,
      counted,
      learn: this.#learn,
      atMostMicros: this.#atMostMicros,
      ended: () => this.#forget(counted),
    });
    return call.mayBegin() ? call.begin() : call.wait(signal).then(() => call.begin());
  }

  #bucketOf(key: string): LearntBucket {
    let bucket = this.#buckets.get(key);
    if (bucket !== undefined) return bucket;
    if (this.#buckets.size >= this.#fewBuckets) this.#sweep();
    bucket = new LearntBucket(timeOf(this.#limiter), this.#atMostMicros);
    this.#buckets.set(key, bucket);
    return bucket;
  }

  #sweep(): void {
    for (const [key, bucket] of this.#buckets) if (bucket.isForgotten) this.#buckets.delete(key);
    this.#fewBuckets = Math.max(FEW_BUCKETS, 2 * this.#buckets.size);
  }

  #forget(counted: LearntCall['counted']): void {
    for (const { target, bucket } of counted) if (bucket.isForgotten) this.#buckets.delete(target.key);
  }
}
