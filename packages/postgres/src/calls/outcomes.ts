/** How many failures are told at a time. Their callers decide by policy, which takes as long as to decide by an answer. */
const FAILURES_AT_A_TIME = 16;

/** Tells a caller how its call has ended. */
export type Telling = () => void;

/**
 * Tells callers how their calls have ended, after the input of a turn of the event loop was read: the next statement was sent
 * by then, and PostgreSQL executes it meanwhile. Failures are told a few in a turn. There may be thousands, and the callers of
 * as many calls would keep the process from reading answers.
 */
export class Outcomes {
  #answers: Telling[] = [];
  #failures: Telling[] = [];
  #told = 0;
  #isScheduled = false;

  addAnswer(tell: Telling): void {
    this.#answers.push(tell);
    this.#schedule();
  }

  addFailure(tell: Telling): void {
    this.#failures.push(tell);
    this.#schedule();
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    // It is not `time.endOfTurn`: callers get their answers also while the time of a test does not move.
    // oxlint-disable-next-line no-restricted-globals
    setImmediate(this.#tellSome);
  }

  readonly #tellSome = (): void => {
    this.#isScheduled = false;
    const answers = this.#answers;
    this.#answers = [];
    const failures = this.#failures.slice(this.#told, this.#told + FAILURES_AT_A_TIME);
    this.#told += failures.length;
    if (this.#told < this.#failures.length) this.#schedule();
    else {
      this.#failures = [];
      this.#told = 0;
    }
    for (const tell of answers) tell();
    for (const tell of failures) tell();
  };
}
