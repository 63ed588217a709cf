/**
 * Failures in a row that open the breaker. One or two slow answers are a hiccup, and only they are answered by
 * policy. When a store hangs, calls wait until the third of them has missed its deadline: at a steady rate what is sent
 * within the first deadline waits it out, and two decisions more.
 */
const FAILURES_TO_OPEN = 3;

/** What a failure changed: it is the first one since the last answer, or it opened the breaker. */
export type FailureEffect = 'first' | 'opened' | undefined;

const MIN_PROBE_INTERVAL_MICROS = 100_000;

/**
 * Decides whether a store is asked. Pure: time is a parameter, in whole microseconds.
 *
 * It is closed while the store answers. Three failures in a row and no answer for as long as a call may wait open it:
 * then nothing is asked but one call every 100 ms, a live one, and the first answer closes it again. A store of many
 * servers with one of them dead keeps answering in between, and stays asked.
 */
export class Breaker {
  readonly #deadlineMicros: number;
  readonly #probeIntervalMicros: number;
  #failuresInARow = 0;
  #firstFailureMicros = 0;
  #answeredMicros = -Infinity;
  #isOpen = false;
  #lastProbeMicros = 0;
  #phase = 0;

  /** @param deadlineMs - How long a call waits: with more than 100 ms the next probe waits as long, so one is out at a time. */
  constructor(deadlineMs: number) {
    this.#deadlineMicros = deadlineMs * 1000;
    this.#probeIntervalMicros = Math.max(MIN_PROBE_INTERVAL_MICROS, this.#deadlineMicros);
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Whether the store has ever answered. */
  get hasAnswered(): boolean {
    return this.#answeredMicros !== -Infinity;
  }

  /** Grows each time it opens or closes. A call remembers the phase in which it was sent, for {@link failed}. */
  get phase(): number {
    return this.#phase;
  }

  /** How often it has opened. */
  get outages(): number {
    return Math.ceil(this.#phase / 2);
  }

  /** How many microseconds may pass between two probes. */
  get probeIntervalMicros(): number {
    return this.#probeIntervalMicros;
  }

  /** Whether a call may go to the store now. While open, a yes uses up the probe of this interval. */
  admits(nowMicros: number): boolean {
    if (!this.#isOpen) return true;
    if (isWithin(this.#probeIntervalMicros, nowMicros - this.#lastProbeMicros)) return false;
    this.#lastProbeMicros = nowMicros;
    return true;
  }

  /** Notes that a call did not try the store after all: the probe that it may have used up is there again. */
  returnProbe(): void {
    this.#lastProbeMicros = -Infinity;
  }

  /**
   * Notes that a call failed. Of many that miss together all belong to the one outage, and so do those that come in
   * after it is over: a failure says nothing about a store that has answered since.
   *
   * @param sentIn - The phase in which the call was sent.
   * @returns What this failure changed.
   */
  failed(sentIn: number, nowMicros: number): FailureEffect {
    if (this.#isOpen || sentIn !== this.#phase) return undefined;
    this.#failuresInARow += 1;
    if (this.#failuresInARow === 1) {
      this.#firstFailureMicros = nowMicros;
      return 'first';
    }
    if (this.#failuresInARow < FAILURES_TO_OPEN) return undefined;
    if (isWithin(this.#deadlineMicros, nowMicros - this.#answeredMicros)) return undefined;
    this.#isOpen = true;
    this.#lastProbeMicros = nowMicros;
    this.#phase += 1;
    return 'opened';
  }

  /**
   * Notes that the store answered.
   *
   * @returns When the first failure of the outage came, if this answer ended one.
   */
  answered(nowMicros: number): number | undefined {
    this.#failuresInARow = 0;
    this.#answeredMicros = nowMicros;
    if (!this.#isOpen) return undefined;
    this.#isOpen = false;
    this.#phase += 1;
    return this.#firstFailureMicros;
  }
}

/** A clock that went back must not put off by as much what waits for an interval to be over. */
function isWithin(intervalMicros: number, sinceMicros: number): boolean {
  return sinceMicros >= 0 && sinceMicros < intervalMicros;
}
