import { afterInput } from '@sluice/core/kit';

/** How many callers of failed calls are called back at a time: each decides by policy, which takes as long as an answer. */
const FAILURES_AT_A_TIME = 16;

/** Gives a caller the outcome of its call. */
export type Callback = () => void;

/**
 * Calls callers back after the input of a turn of the event loop was read. The next statement was sent by then, and
 * PostgreSQL executes it meanwhile. After failures, of which there may be thousands, only a few are called back in a turn:
 * all of them would keep the process from reading answers.
 */
export class Outcomes {
  #answers: Callback[] = [];
  readonly #failures: Callback[] = [];
  #isScheduled = false;

  addAnswer(callback: Callback): void {
    this.#answers.push(callback);
    this.#schedule();
  }

  addFailure(callback: Callback): void {
    this.#failures.push(callback);
    this.#schedule();
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    // It is not `time.endOfTurn`: callers get their answers even while the time of a test does not move.
    afterInput(this.#callBack);
  }

  readonly #callBack = (): void => {
    this.#isScheduled = false;
    const answers = this.#answers;
    this.#answers = [];
    const failures = this.#failures.splice(0, FAILURES_AT_A_TIME);
    if (this.#failures.length > 0) this.#schedule();
    for (const callback of answers) callback();
    for (const callback of failures) callback();
  };
}
