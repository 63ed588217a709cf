// The room learning: applies what answers teach to the limits of calls.
import type { Awaitable, Duration, Limiter, SpendEntry } from '@sluice/core';
import { checkOptions, durationTicks, limitsOf } from '@sluice/core/kit';
import { TICKS_PER_MICRO } from '@sluice/core/store';
import { bucketsOf, type LearntBuckets } from './learnt-buckets.ts';
import { LearntCall, type HoldOptions } from './learnt-call.ts';
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

/**
 * Learns from the answers of a provider, downwards only: what is left of its limits, and how long it denies. A limiter shares
 * it with all processes by `Limiter.restrict`. In this process, calls are held back besides: at most as many are on their way
 * as the provider has left, and after a denial is over, one call probes, alone. All that learn of one limiter know the same.
 */
export class Learning<Name extends string = string> {
  readonly #limiter: Limiter<never, Name>;
  readonly #learn: LearnNames<Name>;
  readonly #atMostMicros: number;
  readonly #buckets: LearntBuckets;

  /** @throws {SluiceError} `ERR_OPTION`, `ERR_UNKNOWN_OPTION`, `ERR_DURATION`, `ERR_UNKNOWN_LIMIT`. */
  constructor(limiter: Limiter<never, Name>, options: LearnOptions<Name> = {}) {
    checkOptions('learn', options, ['learn', 'learnAtMost']);
    const { learn = {}, learnAtMost = '1m' } = options;
    canLearn(limiter, learn);
    this.#limiter = limiter;
    this.#buckets = bucketsOf(limiter);
    this.#learn = learn;
    this.#atMostMicros = durationTicks('learnAtMost', learnAtMost, AT_MOST) / TICKS_PER_MICRO;
  }

  /** Of how many buckets of the limiter something is known, or a call is on its way. */
  get size(): number {
    return this.#buckets.size;
  }

  /**
   * Waits until a call may be sent, and counts it. Without anything learnt that is at once.
   *
   * @param entries - Those that were spent for the call.
   * @throws {SluiceError} Rejects with the reason of the signal when it is aborted first, and with a `SchedulerError` whose
   * reason is `within` when the call can't begin in time, as soon as that is known.
   */
  begin(entries: readonly SpendEntry<Name>[], options: HoldOptions = {}): Awaitable<LearntCall> {
    const targets = targetsOf(limitsOf(this.#limiter), entries, this.#learn);
    const counted = targets.map((target) => ({ target, bucket: this.#buckets.of(target.key) }));
    const call = new LearntCall({
      limiter: this.#limiter,
      counted,
      learn: this.#learn,
      atMostMicros: this.#atMostMicros,
      ended: () => targets.forEach(({ key }) => this.#buckets.forget(key)),
    });
    return call.mayBegin() ? call.begin() : call.wait(options).then(() => call.begin());
  }
}
