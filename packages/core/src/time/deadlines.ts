import { DeadlinePromise, DeadlineQueue, type Wait } from './deadline-queue.ts';
import { OwnTimers, SharedTimer, type DeadlineTimers } from './deadline-timers.ts';
import { systemTime } from './system-time.ts';
import type { Time } from './time.ts';

/**
 * Gives many promises the same deadline.
 *
 * When a timer fires, the event loop first processes input that has already arrived: after a stall of the process,
 * answers in its socket buffers win over the deadline.
 */
export class Deadlines {
  readonly #deadlineMs: number;
  readonly #time: Time;
  readonly #waiting = new DeadlineQueue();
  readonly #timers: DeadlineTimers;

  /**
   * @param deadlineMs - How long each promise has, in milliseconds, more than 0. With `Infinity`, a promise misses only
   * by {@link expireAll}; no clock is read and no timer is set.
   */
  constructor(deadlineMs: number, time: Time = systemTime) {
    this.#deadlineMs = deadlineMs;
    this.#time = time;
    const parts = { deadlineMs, time, waiting: this.#waiting, miss: (wait: Wait) => this.#miss(wait) };
    this.#timers = time.timersEndWithRequest === true ? new OwnTimers(parts) : new SharedTimer(parts);
  }

  /** The number of promises that have neither settled nor missed their deadline. */
  get waiting(): number {
    return this.#waiting.size;
  }

  /**
   * Calls `accept` or `fail` of a pending outcome when a promise settles, or `miss` at the deadline. Whatever the
   * promise does after that is ignored, including a rejection.
   *
   * @param pending - A pending outcome that follows no promise yet.
   */
  follow<T>(promise: PromiseLike<unknown>, pending: DeadlinePromise<T>): Promise<T> {
    this.begin(pending);
    const fail = (error: unknown): void => {
      if (this.end(pending)) pending.fail(error);
    };
    try {
      // Promise.resolve converts other thenables, which may call back more than once or with another thenable.
      Promise.resolve(promise).then((value) => {
        if (this.end(pending)) pending.accept(value);
      }, fail);
    } catch (error) {
      // A native promise with an overwritten `then` method threw.
      fail(error);
    }
    return pending.outcome;
  }

  /** Settles like the promise, or rejects with the error of `makeError` at the deadline. */
  race<T>(promise: PromiseLike<T>, makeError: () => unknown): Promise<T> {
    return this.follow(promise, new RacePromise<T>(makeError));
  }

  /** Makes all waiting promises miss their deadline now. */
  expireAll(): void {
    for (let wait = this.#waiting.oldest; wait !== undefined; wait = this.#waiting.oldest) this.#miss(wait);
    this.#timers.cancel();
  }

  /**
   * Begins a wait that no promise ends: the caller ends it.
   *
   * @param atMicros - The time, if the caller has just read it.
   */
  begin(wait: Wait, atMicros?: number): void {
    if (this.#deadlineMs === Infinity) return this.#waiting.add(wait);
    const nowMicros = atMicros ?? this.#time.nowMicros();
    wait.dueMicros = nowMicros + this.#deadlineMs * 1000;
    this.#waiting.add(wait);
    this.#timers.began(wait, nowMicros);
  }

  /** Ends a wait. Returns false when it has already ended, or missed its deadline. */
  end(wait: Wait): boolean {
    const wentOn = this.#waiting.delete(wait);
    this.#timers.ended(wait);
    return wentOn;
  }

  #miss(wait: Wait): void {
    this.#waiting.delete(wait);
    wait.miss();
  }
}

class RacePromise<T> extends DeadlinePromise<T> {
  readonly #makeError: () => unknown;

  constructor(makeError: () => unknown) {
    super();
    this.#makeError = makeError;
  }

  accept(value: unknown): void {
    this.resolve(value as T);
  }

  fail(error: unknown): void {
    this.reject(error);
  }

  miss(): void {
    this.reject(this.#makeError());
  }
}
