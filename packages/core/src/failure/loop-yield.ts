import type { Time } from '../time/time.ts';

/**
 * How long answers may follow each other before checking whether the event loop runs, and then how long until an answer
 * waits for it. The sum is well below any reasonable deadline, because a blocked event loop delays answers of the
 * store.
 */
const STEP_MICROS = 5000;

/** Where no clock tells that the event loop is blocked, one answer of so many waits for it. */
const STEP_ANSWERS = 1000;

/**
 * Lets answers without I/O wait for the event loop from time to time.
 *
 * A caller that awaits one such answer after another never leaves the microtask queue: sockets are not read and timers
 * do not fire, so that a connection to the store can never be established. Where the event loop runs anyway, as in a
 * server, no answer waits.
 *
 * Where timers end with their request, an answer waits only for the event loop of its own request: the callback of another
 * request may never run. The clock stands still there until there is I/O, so answers are counted.
 */
export class LoopYield {
  readonly #time: Time;
  #sinceMicros: number | undefined;
  #awaitsLoop = false;
  #next: Promise<void> | undefined;
  #resume = (): void => {};
  #answers = 0;

  constructor(time: Time) {
    this.#time = time;
  }

  /** Returns a promise that the answer has to wait for, or undefined when it can be given at once. */
  due(): Promise<void> | undefined {
    return this.#time.timersEndWithRequest === true ? this.#dueInRequest() : this.#dueInProcess();
  }

  #dueInRequest(): Promise<void> | undefined {
    if (++this.#answers % STEP_ANSWERS > 0) return undefined;
    return new Promise((resolve) => void this.#time.endOfTurn(resolve));
  }

  #dueInProcess(): Promise<void> | undefined {
    // Answers keep their order: while one waits, all later ones wait too.
    if (this.#next !== undefined) return this.#next;
    const nowMicros = this.#time.nowMicros();
    this.#sinceMicros ??= nowMicros;
    if (nowMicros - this.#sinceMicros < STEP_MICROS) return undefined;
    if (this.#awaitsLoop) return (this.#next = new Promise((resolve) => (this.#resume = resolve)));
    this.#awaitsLoop = true;
    this.#sinceMicros = nowMicros;
    this.#time.endOfTurn(() => this.#ran());
    return undefined;
  }

  #ran(): void {
    this.#awaitsLoop = false;
    this.#sinceMicros = undefined;
    this.#next = undefined;
    this.#resume();
  }
}
