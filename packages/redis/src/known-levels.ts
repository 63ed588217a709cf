import type { Clock, StoreReading, StoreTransaction } from '@sluice/core';
import type { AskListener } from './ask.ts';
import { passes, TICKS_PER_MICRO } from '@sluice/core/kit';

/** So many buckets are known at most: those read longest ago go first. They take about two megabytes. */
const MOST_BUCKETS = 10_000;

interface Known {
  readonly levelTicks: number;
  /** The server's clock when it read the level. */
  readonly nowTicks: number;
  /** Our clock before and after that. */
  readonly sentMicros: number;
  readonly gotMicros: number;
}

/**
 * The levels of buckets as denied batches have shown them, for up to a second: whoever asks for more than a bucket has
 * left is denied without asking the server again.
 *
 * A level only falls by itself, and by as much as time passes. The server read it at some moment between our question
 * and its answer. Counted from the question a level is never too high: by it we know whether the batch may fit, and then
 * ask the server. Counted from the answer it is never too low: by it we report waits, so that no wait is too short.
 *
 * The process can't know what others do meanwhile: they may have taken more, which the server says when it is asked, or
 * given some back, which is seen when the time is over. It never lets anything pass.
 */
export class KnownLevels {
  /** The one read longest ago first. */
  readonly #known = new Map<string, Known>();
  readonly #forMicros: number;
  readonly #clock: Clock;

  /** @param forMs - How long a level is known, in milliseconds; with 0 none ever is. */
  constructor(forMs: number, clock: Clock) {
    this.#forMicros = forMs * 1000;
    this.#clock = clock;
  }

  /** How many buckets are known. */
  get size(): number {
    return this.#known.size;
  }

  /** The reading of a batch that would be denied now; undefined when it may pass, or nobody knows. */
  denialOf(batch: readonly StoreTransaction[], keys: readonly string[]): StoreReading | undefined {
    if (this.#known.size === 0) return undefined;
    const nowMicros = this.#clock.nowMicros();
    const levelsTicks: number[] = [];
    const bucketNowTicks: number[] = [];
    const lowestTicks: number[] = [];
    for (let i = 0; i < batch.length; i++) {
      const known = this.#at(keys[i]!, nowMicros);
      if (known === undefined) return undefined;
      const passedTicks = (nowMicros - known.gotMicros) * TICKS_PER_MICRO;
      levelsTicks.push(Math.max(0, known.levelTicks - passedTicks));
      lowestTicks.push(Math.max(0, known.levelTicks - (nowMicros - known.sentMicros) * TICKS_PER_MICRO));
      bucketNowTicks.push(known.nowTicks + passedTicks);
    }
    if (passes(batch, lowestTicks)) return undefined;
    return { nowTicks: bucketNowTicks[0]!, levelsTicks, bucketNowTicks, remembered: true };
  }

  /**
   * Takes down what a server has just answered.
   *
   * @param sentMicros - When it was asked, by our clock.
   */
  note(keys: readonly string[], { nowTicks, levelsTicks }: StoreReading, sentMicros: number): void {
    if (this.#forMicros === 0) return;
    const gotMicros = this.#clock.nowMicros();
    for (const [i, key] of keys.entries()) {
      this.#known.delete(key);
      this.#known.set(key, { levelTicks: levelsTicks[i]!, nowTicks, sentMicros, gotMicros });
    }
    for (const oldest of this.#known.keys()) {
      if (this.#known.size <= MOST_BUCKETS) break;
      this.#known.delete(oldest);
    }
  }

  /** Lets go of buckets that were, or may have been, changed. */
  forget(keys: readonly string[]): void {
    if (this.#known.size === 0) return;
    for (const key of keys) this.#known.delete(key);
  }

  #at(key: string, nowMicros: number): Known | undefined {
    const known = this.#known.get(key);
    if (known === undefined || nowMicros - known.sentMicros < this.#forMicros) return known;
    this.#known.delete(key);
    return undefined;
  }
}

/** Keeps what denied batches have shown, and lets go of what any other may have changed. */
export function notingDenials(known: KnownLevels): AskListener {
  return {
    answered({ kind, batch, keys }, reading, sentMicros) {
      if (kind === 'check') return;
      const denied = kind === 'spend' && !passes(batch as readonly StoreTransaction[], reading.levelsTicks);
      if (denied) known.note(keys, reading, sentMicros);
      else known.forget(keys);
    },
    failed: ({ keys }) => known.forget(keys),
  };
}

/** Keeps the levels after a part of a denied batch was given back: they belong to the denial. */
export function notingRefunds(known: KnownLevels): AskListener {
  return {
    answered: ({ keys }, reading, sentMicros) => known.note(keys, reading, sentMicros),
    failed: ({ keys }) => known.forget(keys),
  };
}
