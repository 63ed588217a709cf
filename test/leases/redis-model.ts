// What Redis does to buckets, in plain JavaScript on a clock that is given: sync.lua for processes with leases, and what
// decide.lua does for processes without. A test compares it with the scripts on a real server, to the tick.
import type { StoreRefund, StoreTransaction } from '@sluice/core';
import { levelAfter, passes } from '@sluice/core/kit';
import { charged } from '../../packages/core/src/rule/gcra.ts';
import { levelAfterRefund } from '../../packages/core/src/store/transaction-rule.ts';
import {
  ABSENT_LEVEL_TICKS,
  type SyncCall,
  type SyncEntry,
  type SyncReply,
  type SyncedBucket,
} from '../../packages/redis/src/leases/sync-call.ts';

const TICKS_PER_MS = 16_000;
/** A key expires this long after its TAT. */
const SLACK_MS = 1000;

/** A transaction, a charge or a refund of a process without leases, on the Redis key of a bucket. */
export interface ModelTransaction extends Pick<StoreTransaction, 'incrementTicks' | 'fitTicks' | 'capTicks' | 'mode'> {
  readonly key: string;
}
export type ModelCharge = Omit<ModelTransaction, 'fitTicks' | 'mode'>;
export type ModelCap = Omit<ModelCharge, 'incrementTicks'>;
/** `capTicks` is the level above which an error of the server's clock is looked for. */
export type ModelRefund = ModelCharge & Pick<StoreRefund, 'tatAfterSpendTicks'>;

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

/** A copy of all data, as a replica or a file has it. */
export interface Snapshot {
  readonly buckets: ReadonlyMap<string, StoredBucket>;
  readonly streams: ReadonlyMap<string, StoredStream>;
}

/** A bucket during a call. */
interface Reading {
  readonly levelTicks: number;
  /** Whether the server's clock was wrong, so that the bucket is written even if nothing else changes. */
  readonly isRepaired: boolean;
}

export class RedisModel {
  readonly #now: () => number;
  #buckets = new Map<string, StoredBucket>();
  #streams = new Map<string, StoredStream>();

  /** @param nowTicks - The server's clock, in ticks since 2026-01-01 UTC. */
  constructor(nowTicks: () => number) {
    this.#now = nowTicks;
  }

  /** What sync.lua does in time. */
  sync(call: SyncCall): SyncReply {
    const nowTicks = this.#now();
    const stream = alive(this.#streams, call.stream, nowTicks);
    const stored = stream?.sequence ?? 0;
    const fresh = call.sequence > stored;
    const lost = stored < call.answeredSequence;
    const buckets = call.entries.map((entry) => {
      return this.#syncBucket(entry, { fresh, lost, inTime: nowTicks <= call.latestTicks, nowTicks });
    });
    if (fresh) {
      const expiryTicks = nowTicks + call.streamLifeMs * TICKS_PER_MS;
      this.#streams.set(call.stream, { sequence: call.sequence, foundLoss: lost, expiryTicks });
    }
    const hadFound = stream?.foundLoss === true && call.sequence === stored;
    return { nowTicks, fresh, lost: lost || hadFound, buckets };
  }

  /** What decide.lua does with one batch. Returns the levels before. */
  spend(batch: readonly ModelTransaction[]): readonly number[] {
    const readings = batch.map(({ key, mode, fitTicks, capTicks }) => {
      return this.#read(key, mode === 'charge' ? capTicks : fitTicks);
    });
    const levels = readings.map(({ levelTicks }) => Math.max(levelTicks, 0));
    const transactions = batch as readonly unknown[] as readonly StoreTransaction[];
    const allowed = passes(transactions, levels);
    for (const [i, { key }] of batch.entries()) {
      this.#writeStrict(key, readings[i]!, allowed ? levelAfter(transactions[i]!, levels[i]!) : levels[i]!);
    }
    return levels;
  }

  /** The same for `charge`. Returns the level after it. */
  charge({ key, incrementTicks, capTicks }: ModelCharge): number {
    return this.#change(key, capTicks, (level) => charged(level, incrementTicks, capTicks));
  }

  /** The same for `refund`: of a decision, or by an operator. Returns the level after it. */
  refund({ key, capTicks, ...refund }: ModelRefund): number {
    return this.#change(key, capTicks, (level) => levelAfterRefund(refund as StoreRefund, level, this.#now()));
  }

  /** The same for `cap`. Returns the level after it. */
  cap({ key, capTicks }: ModelCap): number {
    return this.#change(key, capTicks, (level) => Math.min(level, capTicks));
  }

  /** What `reset` does, and DEL by hand. */
  reset(key: string): void {
    this.#buckets.delete(key);
  }

  flushAll(): void {
    this.#buckets.clear();
    this.#streams.clear();
  }

  snapshot(): Snapshot {
    return { buckets: new Map(this.#buckets), streams: new Map(this.#streams) };
  }

  /** A failover to a replica that lags behind, or a start from an old file. */
  restore({ buckets, streams }: Snapshot): void {
    this.#buckets = new Map(buckets);
    this.#streams = new Map(streams);
  }

  /** Without what has expired. */
  bucket(key: string): StoredBucket | undefined {
    return alive(this.#buckets, key, this.#now());
  }

  /** Without what has expired. */
  stream(key: string): StoredStream | undefined {
    return alive(this.#streams, key, this.#now());
  }

  #syncBucket(entry: SyncEntry, { fresh, lost, inTime, nowTicks }: SyncState): SyncedBucket {
    const { key, chargeTicks, ownLevelTicks = -Infinity, returnTicks, intervalTicks, fitTicks, capTicks } = entry;
    const reading = this.#read(key, capTicks);
    const floorLevel = entry.floorTicks === 0 ? -Infinity : entry.floorTicks - nowTicks;
    let level = reading.levelTicks;
    if (lost || entry.lost) level = Math.max(level, Math.min(floorLevel, capTicks));
    const keptFloor = level >= floorLevel || floorLevel <= 0;
    let grantedTokens = 0;
    if (fresh) {
      level = Math.max(level, Math.min(Math.max(level + chargeTicks, ownLevelTicks), capTicks));
      if (inTime && keptFloor) level = Math.min(level, Math.max(level - returnTicks, 0));
      const base = Math.max(level, 0);
      const fitting = Math.floor((fitTicks - base) / intervalTicks);
      if (inTime) grantedTokens = Math.max(Math.min(fitting, entry.wantedTokens), 0);
      if (grantedTokens > 0) level = base + grantedTokens * intervalTicks;
    }
    if (level !== reading.levelTicks || reading.isRepaired) this.#write(key, level);
    return { levelTicks: level, keptFloor, grantedTokens };
  }

  #change(key: string, capTicks: number, after: (level: number) => number): number {
    const reading = this.#read(key, capTicks);
    const level = after(Math.max(reading.levelTicks, 0));
    this.#writeStrict(key, reading, level);
    return level;
  }

  #read(key: string, mendableTicks: number): Reading {
    const bucket = this.bucket(key);
    if (bucket === undefined) return { levelTicks: ABSENT_LEVEL_TICKS, isRepaired: false };
    const levelTicks = bucket.tatTicks - this.#now();
    if (levelTicks <= Math.max(mendableTicks, bucket.writtenTicks)) return { levelTicks, isRepaired: false };
    return { levelTicks: bucket.writtenTicks, isRepaired: true };
  }

  /** decide.lua deletes a bucket that is full; sync.lua keeps it a second longer, for the late syncs of others. */
  #writeStrict(key: string, { levelTicks, isRepaired }: Reading, after: number): void {
    if (after === Math.max(levelTicks, 0) && !isRepaired) return;
    if (after > 0) this.#write(key, after);
    else this.#buckets.delete(key);
  }

  #write(key: string, levelTicks: number): void {
    const nowTicks = this.#now();
    const lifeMs = Math.ceil(levelTicks / TICKS_PER_MS) + SLACK_MS;
    if (lifeMs <= 0) return;
    this.#buckets.set(key, {
      tatTicks: nowTicks + levelTicks,
      writtenTicks: writtenLevel(levelTicks),
      expiryTicks: nowTicks + lifeMs * TICKS_PER_MS,
    });
  }
}

interface SyncState {
  readonly fresh: boolean;
  readonly lost: boolean;
  readonly inTime: boolean;
  readonly nowTicks: number;
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
