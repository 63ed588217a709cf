import { DeadlinePromise, DeadlineQueue, type Wait } from './deadline-queue.ts';
import { systemTime, type Alarm, type Cancel, type Time } from './time.ts';

/**
 * Gives many promises the same deadline. All wait equally long, so they are due in the order in which they were added,
 * and one timer for the oldest is enough. While no promise waits, the timer does not keep the process alive; it is left
 * to expire, because setting and clearing a timer for each call would cost more than everything else here.
 *
 * When the timer fires, the event loop first processes input that has already arrived: after a stall of the process,
 * answers in its socket buffers win over the deadline.
 */
export class Deadlines {
  readonly #deadlineMs: number;
  readonly #time: Time;
  readonly #waiting = new DeadlineQueue();
  #alarm: Alarm | undefined;
  #alarmMicros = 0;
  #cancelSweep: Cancel | undefined;

  /**
   * @param deadlineMs - How long each promise has, in milliseconds, more than 0. With `Infinity`, a promise misses only
   * by {@link expireAll}; no clock is read and no timer is set.
   */
  constructor(deadlineMs: number, time: Time = systemTime) {
    this.#deadlineMs = deadlineMs;
    this.#time = time;
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
    this.#rest();
    this.#alarm?.cancel();
    this.#alarm = undefined;
  }

  /** Begins a wait that no promise ends: the caller ends it. */
  begin(wait: Wait): void {
    if (this.#deadlineMs === Infinity) return this.#waiting.add(wait);
    const nowMicros = this.#time.nowMicros();
    wait.dueMicros = nowMicros + this.#deadlineMs * 1000;
    this.#waiting.add(wait);
    if (this.#waiting.size === 1) this.#wake(nowMicros);
  }

  /** Ends a wait. Returns false when it has already ended, or missed its deadline. */
  end(wait: Wait): boolean {
    const wentOn = this.#waiting.delete(wait);
    if (this.#waiting.size === 0) this.#rest();
    return wentOn;
  }

  // An overdue alarm is replaced: the fake timers of a test may have removed it, and it would never fire.
  #wake(nowMicros: number): void {
    if (this.#alarm !== undefined && nowMicros < this.#alarmMicros) this.#alarm.ref();
    else if (this.#cancelSweep === undefined) this.#arm(this.#deadlineMs);
  }

  #rest(): void {
    this.#alarm?.unref();
    this.#cancelSweep?.();
    this.#cancelSweep = undefined;
  }

  #arm(delayMs: number): void {
    this.#alarm?.cancel();
    this.#alarmMicros = this.#time.nowMicros() + delayMs * 1000;
    this.#alarm = this.#time.alarm(delayMs, () => this.#rang());
  }

  #rang(): void {
    this.#alarm = undefined;
    if (this.#waiting.size === 0) return;
    const nowMicros = this.#time.nowMicros();
    this.#cancelSweep = this.#time.endOfTurn(() => this.#sweep(nowMicros));
  }

  // Expires only what was due when the timer fired. A promise that became due while input was processed gets its own
  // grace.
  #sweep(firedMicros: number): void {
    try {
      for (let wait = this.#waiting.oldest; wait !== undefined; wait = this.#waiting.oldest) {
        if (wait.dueMicros > firedMicros) break;
        this.#miss(wait);
      }
    } finally {
      this.#cancelSweep = undefined;
      // The alarm was for a wait that has ended since, or it fired a fraction of a millisecond early.
      const next = this.#waiting.oldest;
      if (next !== undefined) this.#arm(Math.max(1, Math.ceil((next.dueMicros - this.#time.nowMicros()) / 1000)));
    }
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
