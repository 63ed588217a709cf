// What Redis does to buckets, in plain JavaScript on a clock that is given: sync.lua for processes with leases, and what
// decide.lua does for processes without. A test compares both with the scripts on a real server, to the tick.
import { levelAfter, passes, type StoreRefund, type StoreTransaction } from '@sluice/core/store';
import { charged } from '../../packages/core/src/rule/gcra.ts';
import { levelAfterRefund } from '../../packages/core/src/store/transaction-rule.ts';
import type { SyncCall, SyncReply } from '../../packages/redis/src/leases/rules/sync-call.ts';
import { RedisData, type Reading, type StoredBucket, type StoredStream } from '../../scripts/processes/redis-data.ts';
import { applySync } from '../../scripts/processes/sync-model.ts';

/** A copy of all data, as a replica or a file has it. */
export interface Snapshot {
  readonly buckets: ReadonlyMap<string, StoredBucket>;
  readonly streams: ReadonlyMap<string, StoredStream>;
}

/** A transaction, a charge or a refund of a process without leases, on the Redis key of a bucket. */
export interface ModelTransaction extends Pick<StoreTransaction, 'incrementTicks' | 'fitTicks' | 'capTicks' | 'mode'> {
  readonly key: string;
}
export type ModelCharge = Omit<ModelTransaction, 'fitTicks' | 'mode'>;
export type ModelCap = Omit<ModelCharge, 'incrementTicks'>;
/** `capTicks` is the level above which an error of the server's clock is looked for. */
export type ModelRefund = ModelCharge & Pick<StoreRefund, 'tatAfterSpendTicks'>;

export class RedisModel {
  readonly #data: RedisData;

  /** @param nowTicks - The server's clock, in ticks since 2026-01-01 UTC. */
  constructor(nowTicks: () => number) {
    this.#data = new RedisData(nowTicks);
  }

  /** What sync.lua does in time. */
  sync(call: SyncCall): SyncReply {
    return applySync(this.#data, call);
  }

  /** What decide.lua does with one batch. Returns the levels before. */
  spend(batch: readonly ModelTransaction[]): readonly number[] {
    const readings = batch.map(({ key, mode, fitTicks, capTicks }) => {
      return this.#data.read(key, mode === 'charge' ? capTicks : fitTicks);
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
    const { nowTicks } = this.#data;
    return this.#change(key, capTicks, (level) => levelAfterRefund(refund as StoreRefund, level, nowTicks));
  }

  /** The same for `cap`. Returns the level after it. */
  cap({ key, capTicks }: ModelCap): number {
    return this.#change(key, capTicks, (level) => Math.min(level, capTicks));
  }

  /** What `reset` does, and DEL by hand. */
  reset(key: string): void {
    this.#data.buckets.delete(key);
  }

  flushAll(): void {
    this.#data.buckets.clear();
    this.#data.streams.clear();
  }

  snapshot(): Snapshot {
    return { buckets: new Map(this.#data.buckets), streams: new Map(this.#data.streams) };
  }

  /** A failover to a replica that lags behind, or a start from an old file. */
  restore({ buckets, streams }: Snapshot): void {
    this.flushAll();
    for (const [key, bucket] of buckets) this.#data.buckets.set(key, bucket);
    for (const [key, stream] of streams) this.#data.streams.set(key, stream);
  }

  /** Without what has expired. */
  bucket(key: string): StoredBucket | undefined {
    return this.#data.bucket(key);
  }

  /** Without what has expired. */
  stream(key: string): StoredStream | undefined {
    return this.#data.stream(key);
  }

  #change(key: string, capTicks: number, after: (level: number) => number): number {
    const reading = this.#data.read(key, capTicks);
    const level = after(Math.max(reading.levelTicks, 0));
    this.#writeStrict(key, reading, level);
    return level;
  }

  /** decide.lua deletes a bucket that is full; sync.lua keeps it a second longer, for the late syncs of others. */
  #writeStrict(key: string, { levelTicks, isRepaired }: Reading, after: number): void {
    if (after === Math.max(levelTicks, 0) && !isRepaired) return;
    if (after > 0) this.#data.write(key, after);
    else this.#data.buckets.delete(key);
  }
}
