import { Pending } from './deadline-promise.ts';
import { systemScheduler, type Alarm, type Cancel, type Scheduler } from './scheduler.ts';
import { WaitList, type Wait } from './deadline-queue.ts';

/**
 * One deadline for many promises. All wait equally long, so they come due in the order in which they came, and one
 * timer for the oldest serves them all. While nothing waits no timer keeps the process alive; the one that was made last
 * runs out by itself, since one for each call would cost more than all else here.
 *
 * When the timer fires, the event loop first takes in what has already arrived: after a stall of the process the
 * answers that lie in its sockets win over the deadline.
 */
export class Deadlines {
  readonly #deadlineMs: number;
  readonly #scheduler: Scheduler;
  readonly #waiting = new WaitList();
  #alarm: Alarm | undefined;
  #alarmMs = 0;
  #cancelSweep: Cancel | undefined;

  /** @param deadlineMs - How long each promise has, in milliseconds, more than 0. */
  constructor(deadlineMs: number, scheduler: Scheduler = systemScheduler) {
    this.#deadlineMs = deadlineMs;
    this.#scheduler = scheduler;
  }

  /** How many promises have neither settled nor missed their deadline. */
  get waiting(): number {
    return this.#waiting.size;
  }

  /**
   * Tells a pending outcome what becomes of a promise: that it has settled, or at the deadline that it has not. Whatever
   * the promise does after that is ignored, a rejection too.
   *
   * @param pending - One that follows nothing yet.
   */
  follow<T>(promise: PromiseLike<unknown>, pending: Pending<T>): Promise<T> {
    this.#begin(pending);
    const fail = (error: unknown): void => {
      if (this.#end(pending)) pending.fail(error);
    };
    try {
      // Whatever else has a `then` may call back with another such: Promise.resolve makes it a good one.
      Promise.resolve(promise).then((value) => {
        if (this.#end(pending)) pending.accept(value);
      }, fail);
    } catch (error) {
      // Somebody has put a `then` of his own on a real promise.
      fail(error);
    }
    return pending.outcome;
  }

  /** Settles as the promise does, or rejects with the error of `makeError` at the deadline. */
  race<T>(promise: PromiseLike<T>, makeError: () => unknown): Promise<T> {
    return this.follow(promise, new Race<T>(makeError));
  }

  /** Lets all that wait miss their deadline now. */
  expireAll(): void {
    for (let wait = this.#waiting.oldest; wait !== undefined; wait = this.#waiting.oldest) this.#miss(wait);
    this.#rest();
    this.#alarm?.cancel();
    this.#alarm = undefined;
  }

  #begin(wait: Wait): void {
    const nowMs = this.#scheduler.nowMs();
    wait.dueMs = nowMs + this.#deadlineMs;
    this.#waiting.add(wait);
    if (this.#waiting.size === 1) this.#wake(nowMs);
  }

  /** Says whether the wait still went on: what has missed its deadline has been told so already. */
  #end(wait: Wait): boolean {
    const wentOn = this.#waiting.delete(wait);
    if (this.#waiting.size === 0) this.#rest();
    return wentOn;
  }

  // An alarm that should have rung is made anew: one that a test's own timers took away must not be waited for.
  #wake(nowMs: number): void {
    if (this.#alarm !== undefined && nowMs < this.#alarmMs) this.#alarm.ref();
    else if (this.#cancelSweep === undefined) this.#arm(this.#deadlineMs);
  }

  #rest(): void {
    this.#alarm?.unref();
    this.#cancelSweep?.();
    this.#cancelSweep = undefined;
  }

  #arm(delayMs: number): void {
    this.#alarm?.cancel();
    this.#alarmMs = this.#scheduler.nowMs() + delayMs;
    this.#alarm = this.#scheduler.alarm(delayMs, () => this.#rang());
  }

  #rang(): void {
    this.#alarm = undefined;
    if (this.#waiting.size === 0) return;
    const nowMs = this.#scheduler.nowMs();
    this.#cancelSweep = this.#scheduler.afterInput(() => this.#sweep(nowMs));
  }

  // Only what was due when the timer fired: what came due while the input was taken in has not had its grace.
  #sweep(firedMs: number): void {
    try {
      for (let wait = this.#waiting.oldest; wait !== undefined; wait = this.#waiting.oldest) {
        if (wait.dueMs > firedMs) break;
        this.#miss(wait);
      }
    } finally {
      this.#cancelSweep = undefined;
      // The alarm was for one that has ended since, or it rang a fraction of a millisecond early.
      const next = this.#waiting.oldest;
      if (next !== undefined) this.#arm(Math.max(1, Math.ceil(next.dueMs - this.#scheduler.nowMs())));
    }
  }

  #miss(wait: Wait): void {
    this.#waiting.delete(wait);
    wait.miss();
  }
}

class Race<T> extends Pending<T> {
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
