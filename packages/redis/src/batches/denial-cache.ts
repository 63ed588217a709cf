import type { Time } from '@sluice/core';
import { periodEndTicks } from '@sluice/core/kit';
import {
  nowTicksAt,
  passes,
  TICKS_PER_MICRO,
  joinedReading,
  readingsOf,
  type CalendarPeriod,
  type StoreReading,
  type StoreTransaction,
} from '@sluice/core/store';
import { batchesOf, type BatchObserver, type BatchRequestParts } from './batch-request.ts';

/** The maximum number of buckets, which take about two megabytes. The oldest readings are dropped first. */
const MAX_BUCKETS = 10_000;

interface CachedLevel {
  readonly levelTicks: number;
  /** The server's clock when it read the level. */
  readonly nowTicks: number;
  /** For a bucket with a period: the server's wall clock then, and the end of the period. */
  readonly wallMs: number | undefined;
  readonly endTicks: number;
  /** This process's clock when the call was sent, and when the reply arrived. */
  readonly sentMicros: number;
  readonly gotMicros: number;
}

/**
 * Remembers the levels of buckets from denied batches for up to a second. A batch that can't fit these levels is denied
 * without another call of the server.
 *
 * Without further calls a level only falls, at the rate of time. The server read the level at some moment between the
 * call and the reply. A level that falls since the call was sent is never too high: if the batch fits it, the batch may
 * pass, and the server is asked. A level that falls since the reply arrived is never too low: reported waits are based
 * on it, so that no wait is too short.
 *
 * The level of a bucket with a period does not fall. It is remembered until the server's clock may have reached the end of
 * the period.
 *
 * Slots are not remembered, because any process may release them at any time. A batch with slots is denied from memory only
 * for its tokens; its slots then count as free.
 */
export class DenialCache {
  /** In the order of their readings, the oldest first. */
  readonly #levels = new Map<string, CachedLevel>();
  readonly #forMicros: number;
  readonly #time: Time;

  /** @param forMs - How long a level is remembered, in milliseconds. 0 disables it. */
  constructor(forMs: number, time: Time) {
    this.#forMicros = forMs * 1000;
    this.#time = time;
  }

  /** The number of remembered buckets. */
  get size(): number {
    return this.#levels.size;
  }

  /** Returns a reading that denies the batch; `undefined` if it may pass, or if a level is not known. */
  findDenial(batch: readonly StoreTransaction[], keys: readonly string[]): StoreReading | undefined {
    if (this.#levels.size === 0) return undefined;
    const nowMicros = this.#time.nowMicros();
    const levelsTicks: number[] = [];
    const bucketNowTicks: number[] = [];
    const lowestTicks: number[] = [];
    const bucketWallMs: (number | undefined)[] = [];
    let nowTicks: number | undefined;
    for (let i = 0; i < batch.length; i++) {
      if (batch[i]!.slots === true) {
        levelsTicks.push(0);
        lowestTicks.push(0);
        bucketNowTicks.push(0);
        continue;
      }
      const cached = this.#find(keys[i]!, nowMicros);
      if (cached === undefined) return undefined;
      const passedTicks = (nowMicros - cached.gotMicros) * TICKS_PER_MICRO;
      nowTicks ??= cached.nowTicks + passedTicks;
      const { period } = batch[i]!;
      if (period !== undefined) {
        const wallMs = wallMsInPeriod(period, cached, nowMicros);
        if (wallMs === undefined) return undefined;
        bucketWallMs[i] = wallMs;
        levelsTicks.push(cached.levelTicks);
        lowestTicks.push(cached.levelTicks);
        bucketNowTicks.push(cached.endTicks);
        continue;
      }
      levelsTicks.push(Math.max(0, cached.levelTicks - passedTicks));
      lowestTicks.push(Math.max(0, cached.levelTicks - (nowMicros - cached.sentMicros) * TICKS_PER_MICRO));
      bucketNowTicks.push(cached.nowTicks + passedTicks);
    }
    if (nowTicks === undefined || passes(batch, lowestTicks)) return undefined;
    const reading = { passed: -1, nowTicks, levelsTicks, bucketNowTicks, remembered: true } as const;
    if (bucketWallMs.length === 0) return reading;
    return { ...reading, bucketWallMs: batch.map((_, i) => bucketWallMs[i]) };
  }

  /** Returns a reading that denies all alternatives; `undefined` if one of them may pass. */
  findDenials(alternatives: readonly BatchRequestParts[]): StoreReading | undefined {
    const denials: StoreReading[] = [];
    for (const { batch, keys } of alternatives) {
      const denial = this.findDenial(batch as readonly StoreTransaction[], keys);
      if (denial === undefined) return undefined;
      denials.push(denial);
    }
    return joinedReading(denials);
  }

  /**
   * Remembers the levels of a reply that has just arrived.
   *
   * @param sentMicros - When the call was sent, by this process's clock.
   */
  add({ batch, keys }: Pick<BatchRequestParts, 'batch' | 'keys'>, reading: StoreReading, sentMicros: number): void {
    if (this.#forMicros === 0) return;
    const gotMicros = this.#time.nowMicros();
    for (const [i, key] of keys.entries()) {
      if (batch[i]!.slots === true) continue;
      this.#levels.delete(key);
      this.#levels.set(key, {
        levelTicks: reading.levelsTicks[i]!,
        nowTicks: reading.nowTicks,
        wallMs: reading.bucketWallMs?.[i],
        endTicks: nowTicksAt(reading, i),
        sentMicros,
        gotMicros,
      });
    }
    for (const oldest of this.#levels.keys()) {
      if (this.#levels.size <= MAX_BUCKETS) break;
      this.#levels.delete(oldest);
    }
  }

  /** Forgets buckets that were changed, or may have been. */
  forget(keys: readonly string[]): void {
    if (this.#levels.size === 0) return;
    for (const key of keys) this.#levels.delete(key);
  }

  #find(key: string, nowMicros: number): CachedLevel | undefined {
    const cached = this.#levels.get(key);
    if (cached === undefined || nowMicros - cached.sentMicros < this.#forMicros) return cached;
    this.#levels.delete(key);
    return undefined;
  }
}

/**
 * Returns the server's wall clock, at the earliest, if it is certainly still in the period in which a level was read, and
 * if that is a period of the transaction. Otherwise undefined.
 */
function wallMsInPeriod(
  period: CalendarPeriod,
  { wallMs, endTicks, sentMicros, gotMicros }: CachedLevel,
  nowMicros: number,
): number | undefined {
  if (wallMs === undefined) return undefined;
  // `wallMs` was rounded down.
  const latestMs = wallMs + 1 + (nowMicros - sentMicros) / 1000;
  if (periodEndTicks(period, latestMs) !== endTicks) return undefined;
  return wallMs + Math.floor((nowMicros - gotMicros) / 1000);
}

/** Remembers the levels of denied batches, and forgets buckets that any other call may have changed. */
export function cacheDenials(cache: DenialCache): BatchObserver {
  const note = (request: BatchRequestParts, reading: StoreReading, sentMicros: number): void => {
    if (request.kind === 'check') return;
    const denied = request.kind === 'spend' && reading.passed !== 0;
    if (!denied) cache.forget(request.keys);
    else cache.add(request, reading, sentMicros);
  };
  return {
    onAnswer(request, reading, sentMicros) {
      const { alternatives } = request;
      if (alternatives === undefined) return note(request, reading, sentMicros);
      // The one that passed is the last, so that buckets that denied another before are forgotten.
      for (const [i, tried] of readingsOf(batchesOf(request), reading).entries())
        note(alternatives[i]!, tried, sentMicros);
    },
    onFailure: ({ keys }) => cache.forget(keys),
  };
}

/** Remembers the levels after the refund of a part of a denied batch, because they are part of the denial. */
export function cacheRefunds(cache: DenialCache): BatchObserver {
  return {
    onAnswer: (request, reading, sentMicros) => cache.add(request, reading, sentMicros),
    onFailure: ({ keys }) => cache.forget(keys),
  };
}
