import type { Clock } from '../time/clock.ts';
import { isInstance, SluiceError } from '../checks/errors.ts';
import type { Notify } from '../events/event.ts';
import { Breaker } from './breaker.ts';
import { bucketBroken, chargeLost, refundLost, storeFailing, storeNotReady, storeRecovered } from './health-events.ts';
import { Tally } from '../events/tally.ts';

/** How a store does, as its limiter sees it. */
export interface StoreStatus {
  /** `failing` while the store is left alone and the limits follow their failure policies. */
  readonly state: 'up' | 'failing';
  /** When that began, by the wall clock. */
  readonly since: Date;
  /** How often the store has begun to fail. */
  readonly outages: number;
  /** Decisions that were made by a failure policy so far, in and out of outages. */
  readonly decidedByPolicy: number;
  /** The last time that the store threw, rejected, was late or gave nonsense, if it ever did. */
  readonly lastFailure: { readonly cause: unknown; readonly at: Date } | undefined;
}

/** Knows whether a store answers, and says so: one event when an outage begins, one when it ends. */
export class StoreHealth {
  readonly #breaker: Breaker;
  readonly #clock: Clock;
  readonly #notify: Notify;
  readonly #broken: Tally;
  readonly #lostCharges: Tally;
  readonly #lostRefunds: Tally;
  #sinceMicros: number;
  #lastFailure: { cause: unknown; micros: number } | undefined;
  #decidedByPolicy = 0;
  #decidedBeforeOutage = 0;

  constructor({ deadlineMs, clock, notify }: { deadlineMs: number; clock: Clock; notify: Notify }) {
    this.#breaker = new Breaker(deadlineMs);
    this.#clock = clock;
    this.#notify = notify;
    this.#sinceMicros = clock.nowMicros();
    this.#broken = new Tally((count, cause) => notify(bucketBroken(count, cause)));
    this.#lostCharges = new Tally((count, cause) => notify(chargeLost(count, cause)));
    this.#lostRefunds = new Tally((count, cause) => notify(refundLost(count, cause)));
  }

  /** Whether a call may go to the store now. Reads the clock only while the store fails. */
  admits(): boolean {
    return !this.#breaker.isOpen || this.#breaker.admits(this.#clock.nowMicros());
  }

  /** Whether the store is left alone. */
  get isFailing(): boolean {
    return this.#breaker.isOpen;
  }

  /** What a call that is sent now must bring to {@link failed}. */
  get phase(): number {
    return this.#breaker.phase;
  }

  /** What the store failed with last. */
  get lastCause(): unknown {
    return this.#lastFailure?.cause;
  }

  /** Notes that the store answered from memory: nobody knows more about its servers than before. */
  remembered(): void {
    this.#breaker.returnProbe();
  }

  /** Notes that the store answered. */
  answered(): void {
    const nowMicros = this.#clock.nowMicros();
    const firstFailureMicros = this.#breaker.answered(nowMicros);
    if (firstFailureMicros === undefined) return;
    this.flush();
    this.#sinceMicros = nowMicros;
    const outageMs = (nowMicros - firstFailureMicros) / 1000;
    this.#notify(storeRecovered(outageMs, this.#decidedByPolicy - this.#decidedBeforeOutage));
  }

  /**
   * Notes that the store failed at a call.
   *
   * @param sentIn - The phase in which the call was sent.
   */
  failed(cause: unknown, sentIn: number): void {
    const nowMicros = this.#clock.nowMicros();
    if (isInstance(cause, SluiceError) && cause.code === 'ERR_STORE_BUCKET')
      return this.#broken.add(1, cause, nowMicros);
    this.#lastFailure = { cause, micros: nowMicros };
    const effect = this.#breaker.failed(sentIn, nowMicros);
    if (effect === 'first') this.#failedFirst(cause);
    if (effect === 'opened') this.#opened(cause, nowMicros);
  }

  /** Counts a decision that a policy made. */
  decidedByPolicy(): void {
    this.#decidedByPolicy += 1;
  }

  /** Counts charges that nobody took. */
  lostCharges(count: number, cause: unknown): void {
    this.#lostCharges.add(count, cause, this.#clock.nowMicros());
  }

  /** Counts refunds that nobody gave. */
  lostRefunds(count: number, cause: unknown): void {
    this.#lostRefunds.add(count, cause, this.#clock.nowMicros());
  }

  /** Reports what has been counted and not yet reported. */
  flush(): void {
    const nowMicros = this.#clock.nowMicros();
    for (const tally of [this.#broken, this.#lostCharges, this.#lostRefunds]) tally.flush(nowMicros);
  }

  status(): StoreStatus {
    return {
      state: this.isFailing ? 'failing' : 'up',
      since: this.#dateOf(this.#sinceMicros),
      outages: this.#breaker.outages,
      decidedByPolicy: this.#decidedByPolicy,
      lastFailure: this.#lastFailure && {
        cause: this.#lastFailure.cause,
        at: this.#dateOf(this.#lastFailure.micros),
      },
    };
  }

  // An outage is counted from here, also when it is recognised as one only two failures later.
  #failedFirst(cause: unknown): void {
    this.#decidedBeforeOutage = this.#decidedByPolicy;
    if (!this.#breaker.hasAnswered) this.#notify(storeNotReady(cause));
  }

  #opened(cause: unknown, nowMicros: number): void {
    this.#sinceMicros = nowMicros;
    this.#notify(storeFailing(cause, this.#breaker.probeIntervalMicros / 1000));
  }

  // The clock has no known origin: the wall clock is set back by what has passed on it.
  #dateOf(micros: number): Date {
    return new Date(Date.now() - (this.#clock.nowMicros() - micros) / 1000);
  }
}
