import { TICKS_PER_MS } from '../../packages/core/src/store.ts';
import { ABSENT_LEVEL_TICKS } from '../../packages/redis/src/leases/rules/sync-call.ts';

/** A key expires this long after its TAT. */
const SLACK_MS = 1000;

/** A bucket as it is stored. */
export interface StoredBucket {
  readonly tatTicks: number;
  /** The level that was written, rounded up by at most a sixteenth. */
  readonly writtenTicks: number;
  readonly expiryTicks: number;
}

/** The last sync of a process. */
export interface StoredStream {
  readonly sequence: number;
  /** Whether that sync found that data was lost. */
  readonly foundLoss: boolean;
  readonly expiryTicks: number;
}

/** A bucket during a call. */
export interface Reading {
  readonly levelTicks: number;
  /** Whether the server's clock was wrong, so that the bucket is written even if nothing else changes. */
  readonly isRepaired: boolean;
}

/** The buckets and the streams of syncs in a modelled Redis, on a clock that is given. */
export class RedisData {
  readonly #now: () => number;
  /** By key, also those that have expired. */
  readonly buckets: Map<string, StoredBucket> = new Map();
  /** By key, also those that have expired. */
  readonly streams: Map<string, StoredStream> = new Map();

  /** @param nowTicks - The server's clock, in ticks since 2026-01-01 UTC. */
  constructor(nowTicks: () => number) {
    this.#now = nowTicks;
  }

  get nowTicks(): number {
    return this.#now();
  }

  /** Returns undefined for a bucket that has expired. */
  bucket(key: string): StoredBucket | undefined {
    return alive(this.buckets, key, this.#now());
  }

  /** Returns undefined for a stream that has expired. */
  stream(key: string): StoredStream | undefined {
    return alive(this.streams, key, this.#now());
  }

  /** Reads a level. One above what was written and above `mendableTicks` is an error of the clock, and is repaired. */
  read(key: string, mendableTicks: number): Reading {
    const bucket = this.bucket(key);
    if (bucket === undefined) return { levelTicks: ABSENT_LEVEL_TICKS, isRepaired: false };
    const levelTicks = bucket.tatTicks - this.#now();
    if (levelTicks <= Math.max(mendableTicks, bucket.writtenTicks)) return { levelTicks, isRepaired: false };
    return { levelTicks: bucket.writtenTicks, isRepaired: true };
  }

  write(key: string, levelTicks: number): void {
    const nowTicks = this.#now();
    const lifeMs = Math.ceil(levelTicks / TICKS_PER_MS) + SLACK_MS;
    if (lifeMs <= 0) return;
    this.buckets.set(key, {
      tatTicks: nowTicks + levelTicks,
      writtenTicks: writtenLevel(levelTicks),
      expiryTicks: nowTicks + lifeMs * TICKS_PER_MS,
    });
  }
}

function alive<T extends { readonly expiryTicks: number }>(
  all: ReadonlyMap<string, T>,
  key: string,
  nowTicks: number,
): T | undefined {
  const stored = all.get(key);
  return stored !== undefined && nowTicks < stored.expiryTicks ? stored : undefined;
}

/** The least of the numbers 2^e × (16 + f) / 16, f from 0 to 15, that is at least the level and at least 1. */
function writtenLevel(levelTicks: number): number {
  const level = Math.max(levelTicks, 1);
  let step = 1 / 16;
  while (32 * step <= level) step *= 2;
  return Math.ceil(level / step) * step;
}
