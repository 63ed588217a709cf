const HOUR_MICROS = 3_600_000_000;
/** How far a line may be ahead of the latest one without being held back. */
const NEAR_MICROS = HOUR_MICROS;
/** Lines may be out of order by that much. */
const DISORDER_MICROS = 60_000_000;
/** A line is alone if no other line is as near. */
const ALONE_MICROS = 31 * 24 * HOUR_MICROS;
/** How many lines after it decide on a line that is held back. */
const WITNESSES = 7;

/** A line that is held back until later ones confirm or contradict its time. */
export interface SuspectLine {
  readonly micros: number;
  /** How much later than its arrival it is decided. */
  readonly movedMicros: number;
  readonly line: number;
  readonly bytes: Buffer;
  /** Where its values are in the bytes. */
  readonly spans: Int32Array;
}

/** Outcomes of lines that were held back. */
export interface JumpOutcomes {
  accept(line: SuspectLine): void;
  reject(line: SuspectLine): void;
}

/**
 * Finds lines whose time is a mistake. One line dated a year ahead would make all later lines too late to be sorted in, so a line
 * far ahead of the latest one is held back until the next lines show whether the log has a pause there, or the line is
 * alone with its time. The first lines of a log are judged in the same way.
 */
export class JumpGuard {
  readonly #outcomes: JumpOutcomes;
  readonly #suspects: SuspectLine[] = [];
  /** The latest time that a line can have without being held back; nothing passes while lines are held back. */
  #passesUntil = -Infinity;
  /** The latest time of the accepted lines, in microseconds since 1970. */
  latestMicros: number = -Infinity;

  constructor(outcomes: JumpOutcomes) {
    this.#outcomes = outcomes;
  }

  /** Whether a line can be accepted at once. Notes its time if so. */
  passes(micros: number): boolean {
    if (micros > this.#passesUntil) return false;
    if (micros > this.latestMicros) this.#advanceTo(micros);
    return true;
  }

  /** Holds a line back that does not pass. */
  holdBack(line: SuspectLine): void {
    this.#suspects.push(line);
    this.#passesUntil = -Infinity;
    if (this.#suspects.length > WITNESSES) this.#judgeUntil(WITNESSES);
  }

  /** Decides on all lines that are held back, at the end of the log. */
  end(): void {
    this.#judgeUntil(0);
  }

  /** Decides on the first lines, until the next to be judged has at most so many after it. */
  #judgeUntil(most: number): void {
    while (this.#suspects.length > 0) {
      const isFar = this.#suspects[0]!.micros > this.latestMicros + NEAR_MICROS;
      if (isFar && this.#suspects.length <= most) return;
      const first = this.#suspects.shift()!;
      if (isFar && this.#isMistake(first)) this.#outcomes.reject(first);
      else {
        this.latestMicros = Math.max(this.latestMicros, first.micros);
        this.#outcomes.accept(first);
      }
    }
    this.#advanceTo(this.latestMicros);
  }

  /** Whether most of the next lines contradict the time of a line far ahead of the ones before it. */
  #isMistake({ micros, line }: SuspectLine): boolean {
    const earlier = this.#count((each) => each < micros - DISORDER_MICROS);
    if (2 * earlier > this.#suspects.length) return true;
    const isFirst = this.latestMicros === -Infinity;
    // Either of two lines could be the mistake.
    if (!isFirst) return this.#suspects.length === 0 && line > 2 && micros > this.latestMicros + ALONE_MICROS;
    return this.#suspects.length > 1 && 2 * this.#count((each) => each > micros + ALONE_MICROS) > this.#suspects.length;
  }

  #count(isSuch: (micros: number) => boolean): number {
    return this.#suspects.filter(({ micros }) => isSuch(micros)).length;
  }

  #advanceTo(micros: number): void {
    this.latestMicros = micros;
    this.#passesUntil = micros + NEAR_MICROS;
  }
}
