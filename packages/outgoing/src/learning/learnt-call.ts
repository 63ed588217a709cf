import type { Awaitable, Limiter, RestrictEntry } from '@sluice/core';
import { timeOf } from '@sluice/core/kit';
import { TICKS_PER_MICRO } from '@sluice/core/store';
import type { FieldSource } from '../fields/field-source.ts';
import { taughtBy, type Denied, type Teaching } from '../fields/teaching.ts';
import { lessonsFor, type Taught } from './lessons-for.ts';
import type { CountedTarget, Learnt, LearntBucket } from './learnt-bucket.ts';
import type { LearnNames, Target } from './targets.ts';

/** An answer of a provider: a `Response` is one. */
export interface ProviderAnswer {
  readonly status: number;
  readonly headers: FieldSource;
}

interface LearntCallParts {
  readonly limiter: Limiter<never>;
  readonly counted: readonly CountedTarget[];
  readonly learn: LearnNames;
  readonly atMostMicros: number;
  readonly ended: () => void;
}

/** A call that is on its way to a provider. End it with {@link LearntCall.ended}, whatever happens. */
export class LearntCall {
  readonly counted: readonly CountedTarget[];
  readonly #parts: LearntCallParts;
  #sentMicros = 0;
  #isOnItsWay = false;

  constructor(parts: LearntCallParts) {
    this.counted = parts.counted;
    this.#parts = parts;
  }

  /** The time of the clock at which the request was sent, which orders answers. */
  get sentMicros(): number {
    return this.#sentMicros;
  }

  /** Whether it may be sent now. */
  mayBegin(): boolean {
    return this.#closed() === undefined;
  }

  /** Waits until it may begin. */
  async wait(signal: AbortSignal | undefined): Promise<void> {
    for (let closed = this.#closed(); closed !== undefined;) {
      const { bucket, target } = closed;
      // oxlint-disable-next-line no-await-in-loop -- one bucket after the other
      await bucket.turn(target.cost, signal);
      closed = this.#closed();
      // Its turn there is lost, for others to take.
      if (closed !== undefined) bucket.look();
    }
  }

  /** Counts it as sent, from now on. */
  begin(): this {
    this.#sentMicros = this.#nowMicros();
    this.#isOnItsWay = true;
    for (const { bucket, target } of this.counted) bucket.begin(this, target.cost);
    return this;
  }

  /** Learns from the answer, as soon as its fields are there. Never rejects. */
  answered({ status, headers }: ProviderAnswer): Awaitable<void> {
    return this.#learn(taughtBy(status, headers, timeOf(this.#parts.limiter).wallNow()));
  }

  /** The call is over. A second time, and after an answer, this does nothing. */
  ended(): void {
    if (!this.#isOnItsWay) return;
    this.#isOnItsWay = false;
    for (const { bucket, target } of this.counted) bucket.left(this, target.cost);
    this.#parts.ended();
  }

  #closed(): CountedTarget | undefined {
    const nowMicros = this.#nowMicros();
    return this.counted.find(({ bucket, target }) => bucket.opensMicros(target.cost) > nowMicros);
  }

  #learn({ lessons, denied }: Teaching): Awaitable<void> {
    if (!this.#isOnItsWay) return;
    const taught = lessonsFor(this.counted, lessons, this.#parts.learn);
    if (denied === undefined) for (const { bucket } of this.counted) bucket.passed(this);
    const entries = this.counted.flatMap((each, i) =>
      this.#restriction(each, taught[i]!, i === 0 ? denied : undefined),
    );
    this.ended();
    if (entries.length === 0) return;
    // A call that has been answered must not fail because its limiter is closed, or has other limits meanwhile.
    return this.#parts.limiter.restrict(entries).then(
      () => undefined,
      () => undefined,
    );
  }

  #restriction(
    { target, bucket }: CountedTarget,
    taught: Taught,
    denied: Denied | undefined,
  ): readonly RestrictEntry[] {
    const learnt = this.#learnt(bucket, taught, denied);
    if (learnt === undefined || !bucket.learn(this, learnt) || !target.isRate) return [];
    const { limit, id } = target;
    const forMs = learnt.blockMicros === undefined ? undefined : Math.ceil(learnt.blockMicros / 1000);
    const remaining = learnt.remaining && this.#remainingOf(target, learnt.remaining - bucket.onItsWay + target.cost);
    if (forMs === undefined && remaining === undefined) return [];
    return [{ limit: limit.name, id, remaining, forMs }];
  }

  #learnt(bucket: LearntBucket, { remaining, usedUpMs }: Taught, denied: Denied | undefined): Learnt | undefined {
    const deniedMs = denied === undefined ? -1 : (denied.waitMs ?? 0);
    // No time at all would be a denial at once again.
    const deniedMicros = deniedMs === 0 ? bucket.untimedMicros(this) : deniedMs * 1000;
    const blockMicros = Math.max(deniedMicros, (usedUpMs ?? -1) * 1000);
    if (blockMicros < 0) return remaining === undefined ? undefined : { remaining, blockMicros: undefined };
    return { remaining, blockMicros: Math.min(this.#parts.atMostMicros, blockMicros) };
  }

  /**
   * Returns to how many tokens a bucket is restricted: so many that it is full again when what was learnt is not believed any
   * more, and at least one, because a bucket that is empty may take longer than that for the next.
   */
  #remainingOf({ limit: { rate } }: Target, remaining: number): number | undefined {
    const learntAtMost = Math.floor((this.#parts.atMostMicros * TICKS_PER_MICRO) / rate.emissionIntervalTicks);
    const tokens = Math.max(1, remaining, rate.burst - learntAtMost);
    return tokens < rate.burst ? tokens : undefined;
  }

  #nowMicros(): number {
    return timeOf(this.#parts.limiter).nowMicros();
  }
}
