import type { Clock, StoreReading, StoreTransaction } from '@sluice/core';
import type { AskListener } from './ask.ts';
import { passes, TICKS_PER_MICRO } from '@sluice/core/store';

/** So many buckets are known at most: those read longest ago go first. They take about two megabytes. */
const MOST_BUCKETS = 10_000;

interface Known {
  readonly levelTicks: number;
  /** The server's clock at that moment, and ours at one before. */
  readonly nowTicks: number;
  readonly sentMicros: number;
}

/**
 * The levels of buckets as denied batches have shown them, for up to a second: whoever asks for more than a bucket has
 * left is denied without asking the server again.
 *
 * A level only falls by itself, and by as much as time passes. So what is told here counts down as the server's own
 * answer would, and the server is asked again as soon as the batch may fit. It can't know what other processes do
 * meanwhile: they may have taken more, which the server says when it is asked, or given some back, which is seen when
 * the time is over. It never lets anything pass.
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
    for (const [i, { toleranceTicks }] of batch.entries()) {
      const known = this.#at(keys[i]!, nowMicros);
      if (known === undefined) return undefined;
      const passedTicks = (nowMicros - known.sentMicros) * TICKS_PER_MICRO;
      levelsTicks.push(Math.max(0, known.levelTicks - passedTicks));
      bucketNowTicks.push(known.nowTicks + passedTicks);
      // The limit was lowered since: the server must replace the TAT.
      if (levelsTicks[i]! > toleranceTicks) return undefined;
    }
    if (passes(batch, levelsTicks)) return undefined;
    return { nowTicks: bucketNowTicks[0]!, levelsTicks, bucketNowTicks, remembered: true };
  }

  /**
   * Takes down what a server has just told.
   *
   * @param sentMicros - When it was asked, by our clock. It has answered later, and its answer may have waited for this
   * process for long: so a level is never taken for higher than it is.
   */
  note(keys: readonly string[], { nowTicks, levelsTicks }: StoreReading, sentMicros: number): void {
    if (this.#forMicros === 0) return;
    for (const [i, key] of keys.entries()) {
      this.#known.delete(key);
      this.#known.set(key, { levelTicks: levelsTicks[i]!, nowTicks, sentMicros });
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
