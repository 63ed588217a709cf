import type { Awaitable, Limiter, RestrictEntry } from '@sluice/core';
import { timeOf } from '@sluice/core/kit';
import { SchedulerError } from '@sluice/core/scheduler';
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

/** How long a call may be held back. */
export interface HoldOptions {
  /** Aborting it ends the wait. */
  readonly signal?: AbortSignal | undefined;
  /** Until when the call must begin, in microseconds of the limiter's clock. Default: it waits as long as it has to. */
  readonly untilMicros?: number | undefined;
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

  /** How long to believe its answer. */
  get atMostMicros(): number {
    return this.#parts.atMostMicros;
  }

  /** The time of the clock at which the request was sent, which orders answers. */
  get sentMicros(): number {
    return this.#sentMicros;
  }

  /** Whether it may be sent now. */
  mayBegin(): boolean {
    return this.#closed() === undefined;
  }

  /**
   * Waits until it may begin.
   *
   * @throws {SluiceError} As of `Learning.begin`.
   */
  async wait({ signal, untilMicros = Infinity }: HoldOptions): Promise<void> {
    const isLate = (): boolean => this.#nowMicros() > untilMicros;
    for (let closed = this.#closed(); closed !== undefined;) {
      this.#demandTime(untilMicros);
      const { bucket, target } = closed;
      // oxlint-disable-next-line no-await-in-loop -- one bucket after the other
      await bucket.turn(target.cost, { signal, untilMicros });
      closed = this.#closed();
      // Its turn there is lost, for others to take.
      if (closed !== undefined || isLate()) bucket.look();
    }
    if (isLate()) throw new SchedulerError('within');
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
    // The clock is read again, because it may have moved since an open bucket has returned the present.
    return this.counted.find(({ bucket, target }) => bucket.opensMicros(target.cost) > this.#nowMicros());
  }

  /** A denial tells how long it lasts. What else a call waits for, such as an answer, may come at any time. */
  #demandTime(untilMicros: number): void {
    const nowMicros = this.#nowMicros();
    const deniedUntilMicros = Math.max(...this.counted.map(({ bucket }) => bucket.deniedUntilMicros));
    if (deniedUntilMicros > untilMicros) throw new SchedulerError('within', (deniedUntilMicros - nowMicros) / 1000);
    if (nowMicros >= untilMicros) throw new SchedulerError('within');
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
    // It fails for a quota, which only this process learns of, and where the limiter is closed or has other limits meanwhile.
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
    if (learnt === undefined || !bucket.learn(this, learnt)) return [];
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
    return { remaining, blockMicros: Math.min(this.atMostMicros, blockMicros) };
  }

  /**
   * Returns to how many tokens a bucket is restricted: so many that it is full again when what was learnt is not believed any
   * more, and at least one, because one call may always ask again.
   */
  #remainingOf({ limit: { rate } }: Target, remaining: number): number | undefined {
    const learntAtMost = Math.floor((this.atMostMicros * TICKS_PER_MICRO) / rate.emissionIntervalTicks);
    const tokens = Math.max(1, remaining, rate.burst - learntAtMost);
    return tokens < rate.burst ? tokens : undefined;
  }

  #nowMicros(): number {
    return timeOf(this.#parts.limiter).nowMicros();
  }
}
