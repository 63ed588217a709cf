import { isInstance, SluiceError } from '../checks/errors.ts';
import { storeChannel, type EventSink } from '../events/event.ts';
import { Breaker } from './breaker.ts';
import {
  bucketBroken,
  chargeLost,
  refundLost,
  storeFailing,
  storeFailingAtStart,
  storeNotReady,
  storeRecovered,
} from './health-events.ts';
import { Tally } from '../events/throttle.ts';
import type { Store } from '../store/store.ts';
import type { Time } from '../time/time.ts';

/** The state of a store as its limiter observes it. */
export interface StoreStatus {
  /** `failing` while the limits follow their failure policies and the store is only probed; otherwise `up`. */
  readonly state: 'up' | 'failing';
  /** When this state began, by the wall clock. */
  readonly since: Date;
  /** How many outages have begun. */
  readonly outages: number;
  /** Decisions made by failure policies so far, during outages and for single failed calls. */
  readonly decidedByPolicy: number;
  /**
   * The last time that the store threw, rejected, was late, returned an invalid answer or reported that it can't
   * answer, if it ever did. A single broken bucket (`ERR_STORE_BUCKET`) and a stale period (`ERR_STORE_PERIOD`) do not
   * count.
   */
  readonly lastFailure: { readonly cause: unknown; readonly at: Date } | undefined;
}

/** A message of the diagnostics channel `sluice:store`: the state of a limiter's store has changed. */
export interface StoreMessage {
  readonly store: Store;
  readonly state: 'up' | 'failing';
  /** With `failing`: what the store failed with. */
  readonly cause?: unknown;
  /** With `up`: the duration of the outage in milliseconds, from its first failure. */
  readonly outageMs?: number;
}

/** Observes whether a store answers, and emits one event when an outage begins and one when it ends. */
export class StoreHealth {
  readonly #store: Store;
  readonly #breaker: Breaker;
  readonly #time: Time;
  readonly #emit: EventSink;
  readonly #broken: Tally;
  readonly #lostCharges: Tally;
  readonly #lostRefunds: Tally;
  #sinceMicros: number;
  #lastFailure: { cause: unknown; micros: number } | undefined;
  #decidedByPolicy = 0;
  /** Whether the store has ever answered without asking its servers. */
  #hasRemembered = false;
  #decidedBeforeOutage = 0;

  constructor({ store, deadlineMs, time, emit }: { store: Store; deadlineMs: number; time: Time; emit: EventSink }) {
    this.#store = store;
    this.#breaker = new Breaker(deadlineMs);
    this.#time = time;
    this.#emit = emit;
    this.#sinceMicros = time.nowMicros();
    this.#broken = new Tally((count, cause) => emit(bucketBroken(count, cause)));
    this.#lostCharges = new Tally((count, cause) => emit(chargeLost(count, cause)));
    this.#lostRefunds = new Tally((count, cause) => emit(refundLost(count, cause)));
  }

  /** Whether to call the store now. Reads the clock only during an outage. */
  admits(): boolean {
    return !this.#breaker.isOpen || this.#breaker.admits(this.#time.nowMicros());
  }

  /** Whether an outage is in progress. */
  get isFailing(): boolean {
    return this.#breaker.isOpen;
  }

  /** The current phase, which a call keeps for {@link failed}. */
  get phase(): number {
    return this.#breaker.phase;
  }

  /** The cause of the last failure. */
  get lastCause(): unknown {
    return this.#lastFailure?.cause;
  }

  /** Records that the store answered without asking its servers, which is no news about their state. */
  remembered(): void {
    this.#hasRemembered = true;
  }

  /** Records that a probe was answered without asking the servers: the next call is a probe again. */
  probeWasRemembered(): void {
    this.#breaker.allowProbe();
  }

  /** Records an answer of the store. */
  answered(): void {
    const nowMicros = this.#time.nowMicros();
    const firstFailureMicros = this.#breaker.answered(nowMicros);
    if (firstFailureMicros === undefined) return;
    this.flush();
    this.#sinceMicros = nowMicros;
    const outageMs = (nowMicros - firstFailureMicros) / 1000;
    this.#emit(storeRecovered(outageMs, this.#decidedByPolicy - this.#decidedBeforeOutage));
    if (storeChannel.hasSubscribers) this.#publish({ state: 'up', outageMs });
  }

  /**
   * Records a failed call.
   *
   * @param sentIn - The phase in which the call was sent.
   */
  failed(cause: unknown, sentIn: number): void {
    const nowMicros = this.#time.nowMicros();
    if (isInstance(cause, SluiceError) && cause.code === 'ERR_STORE_BUCKET')
      return this.#broken.add(1, cause, nowMicros);
    this.#lastFailure = { cause, micros: nowMicros };
    // This process has asked too much at once. A breaker would keep even those away that the store has time for.
    if (isInstance(cause, SluiceError) && cause.code === 'ERR_STORE_OVERLOAD') return;
    const effect = this.#breaker.failed(sentIn, nowMicros);
    if (effect === 'first') this.#failedFirst(cause);
    if (effect === 'opened') this.#opened(cause, nowMicros);
  }

  /** Records that the store has reported that it can't answer. */
  reportedDown(cause: unknown): void {
    const nowMicros = this.#time.nowMicros();
    this.#lastFailure = { cause, micros: nowMicros };
    if (this.isFailing) return;
    const { hasFailed, hasAnswered } = this.#breaker;
    if (!hasFailed) this.#decidedBeforeOutage = this.#decidedByPolicy;
    this.#breaker.reportedDown(nowMicros);
    this.#opened(cause, nowMicros, hasFailed || hasAnswered ? storeFailing : storeFailingAtStart);
  }

  /** Records that the store has reported that it can answer again. During an outage, the next call tries it. */
  reportedUp(): void {
    this.#breaker.allowProbe();
  }

  /** Counts a decision made by a failure policy. */
  decidedByPolicy(): void {
    this.#decidedByPolicy += 1;
  }

  /** Counts lost charges. */
  lostCharges(count: number, cause: unknown): void {
    this.#lostCharges.add(count, cause, this.#time.nowMicros());
  }

  /** Counts lost refunds. */
  lostRefunds(count: number, cause: unknown): void {
    this.#lostRefunds.add(count, cause, this.#time.nowMicros());
  }

  /** Emits events for everything that was counted and not yet reported. */
  flush(): void {
    const nowMicros = this.#time.nowMicros();
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

  // The outage is counted from the first failure, although it is recognized only two failures later.
  #failedFirst(cause: unknown): void {
    this.#decidedBeforeOutage = this.#decidedByPolicy;
    if (!this.#breaker.hasAnswered && !this.#hasRemembered) this.#emit(storeNotReady(cause));
  }

  #opened(cause: unknown, nowMicros: number, event = storeFailing): void {
    this.#sinceMicros = nowMicros;
    this.#emit(event(cause, this.#breaker.probeIntervalMicros / 1000));
    if (storeChannel.hasSubscribers) this.#publish({ state: 'failing', cause });
  }

  #publish(change: Omit<StoreMessage, 'store'>): void {
    const message: StoreMessage = { store: this.#store, ...change };
    storeChannel.publish(message);
  }

  // The two clocks have different origins, so the date is computed from the time that has passed since.
  #dateOf(micros: number): Date {
    return new Date(this.#time.wallNow() - (this.#time.nowMicros() - micros) / 1000);
  }
}
