/**
 * Consecutive failures that open the breaker. One or two slow answers are a hiccup: a policy answers only those calls.
 * When a store hangs, calls wait until the third of them has missed its deadline. At a steady rate these are the calls
 * sent within the first deadline, and two more.
 */
const FAILURES_TO_OPEN = 3;

/** What a failure changed: it is the first one since the last answer, or it opened the breaker. */
export type FailureEffect = 'first' | 'opened' | undefined;

const MIN_PROBE_INTERVAL_MICROS = 100_000;

/**
 * Decides whether to call the store (circuit breaker). Pure: time is a parameter, in whole microseconds.
 *
 * The breaker is closed while the store answers. It opens after three consecutive failures without an answer for as
 * long as one deadline, or when the store reports that it can't answer. Then it admits one call, the probe, every
 * 100 ms or every deadline, whichever is longer; the probe is a live request. The first answer closes the breaker. A
 * store of several servers of which one is dead keeps answering in between, so its breaker stays closed.
 */
export class Breaker {
  readonly #deadlineMicros: number;
  readonly #probeIntervalMicros: number;
  #failuresInARow = 0;
  #firstFailureMicros = 0;
  #answeredMicros = -Infinity;
  #lastProbeMicros = 0;
  /** Whether it is open. Only this class changes it, and the phase. */
  isOpen = false;
  /**
   * The number of times that the breaker has opened or closed. A call keeps the phase in which it was sent, for {@link
   * failed}.
   */
  phase = 0;

  /**
   * @param deadlineMs - How long a call waits, in milliseconds. Probes are at least this far apart, so only one is in
   * flight.
   */
  constructor(deadlineMs: number) {
    this.#deadlineMicros = deadlineMs * 1000;
    this.#probeIntervalMicros = Math.max(MIN_PROBE_INTERVAL_MICROS, this.#deadlineMicros);
  }

  /** Whether the last call has failed. */
  get hasFailed(): boolean {
    return this.#failuresInARow > 0;
  }

  /** Whether the store has ever answered. */
  get hasAnswered(): boolean {
    return this.#answeredMicros !== -Infinity;
  }

  /** The number of times that the breaker has opened. */
  get outages(): number {
    return Math.ceil(this.phase / 2);
  }

  /** The time between two probes, in microseconds. */
  get probeIntervalMicros(): number {
    return this.#probeIntervalMicros;
  }

  /** Whether to call the store now. While the breaker is open, true uses up the probe of this interval. */
  admits(nowMicros: number): boolean {
    if (!this.isOpen) return true;
    if (isWithin(this.#probeIntervalMicros, nowMicros - this.#lastProbeMicros)) return false;
    this.#lastProbeMicros = nowMicros;
    return true;
  }

  /**
   * Lets the next call be a probe: an admitted call did not reach the store, or the store has reported that it can
   * answer again.
   */
  allowProbe(): void {
    this.#lastProbeMicros = -Infinity;
  }

  /**
   * Records a failed call. While the breaker is open, failures are ignored, and so are those of calls that were sent
   * before it last opened or closed: they belong to an earlier outage, and the store may have answered since.
   *
   * @param sentIn - The phase in which the call was sent.
   * @returns What this failure changed.
   */
  failed(sentIn: number, nowMicros: number): FailureEffect {
    if (this.isOpen || sentIn !== this.phase) return undefined;
    this.#failuresInARow += 1;
    if (this.#failuresInARow === 1) {
      this.#firstFailureMicros = nowMicros;
      return 'first';
    }
    if (this.#failuresInARow < FAILURES_TO_OPEN) return undefined;
    if (isWithin(this.#deadlineMicros, nowMicros - this.#answeredMicros)) return undefined;
    this.#open(nowMicros);
    return 'opened';
  }

  /** Opens a closed breaker now, because the store has reported that it can't answer. */
  reportedDown(nowMicros: number): void {
    if (!this.hasFailed) this.#firstFailureMicros = nowMicros;
    this.#open(nowMicros);
  }

  /**
   * Records an answer of the store.
   *
   * @returns The time of the outage's first failure, in microseconds, if this answer ended an outage.
   */
  answered(nowMicros: number): number | undefined {
    this.#failuresInARow = 0;
    this.#answeredMicros = nowMicros;
    if (!this.isOpen) return undefined;
    this.isOpen = false;
    this.phase += 1;
    return this.#firstFailureMicros;
  }

  #open(nowMicros: number): void {
    this.isOpen = true;
    this.#lastProbeMicros = nowMicros;
    this.phase += 1;
  }
}

/**
 * After a step back of the clock the interval counts as over. Otherwise it would last longer by the size of the step.
 */
function isWithin(intervalMicros: number, sinceMicros: number): boolean {
  return sinceMicros >= 0 && sinceMicros < intervalMicros;
}
