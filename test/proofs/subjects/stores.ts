/**
 * The stores: the memory store as it is, and the script of the Redis store with the encoding of its calls. If they move,
 * only this file changes.
 *
 * @module
 */
import { StalePeriodError } from '../../../packages/core/src/store/calendar-period.ts';
import { decidedReading } from '../../../packages/core/src/store/alternatives.ts';
import { memoryStore } from '../../../packages/core/src/store/memory/memory-store.ts';
import {
  emptyReading,
  type StoreOperation,
  type StoreReading,
  type StoreTransaction,
} from '../../../packages/core/src/store/store.ts';
import type { ServerEntry } from '../../../packages/core/src/store/server-entry.ts';
import { findStalePeriod, withPeriods } from '../../../packages/core/src/store/server-periods.ts';
import type { BatchKind } from '../../../packages/redis/src/batches/batch-request.ts';
import { ScriptBatch } from '../../../packages/redis/src/batches/script-batch.ts';
import { withoutShortWay } from '../../../packages/redis/test/support/short-way.ts';
import { sourceText } from '../engine/source.ts';
import { bucketText, BucketText, levelOfCode, roundedUp } from '../lua/bucket-text.ts';
import { RedisData, script } from '../lua/redis.ts';

export { StalePeriodError };

const DECIDE = script(sourceText('packages/redis/lua/decide.lua'));
/** The script without the short way for one plain transaction. */
const IN_FULL = script(withoutShortWay(sourceText('packages/redis/lua/decide.lua')));
/** Above every time: the call is not late. */
const NEVER = 2 ** 53;
/** The origin of the time of Redis, in milliseconds of Unix time. */
export const EPOCH_MS: number = Date.UTC(2026, 0, 1);

export type Kind = 'spend' | 'check' | 'charge' | 'refund' | 'cap' | 'reset';
export type Entry = ServerEntry & { readonly id: string };

/** The clocks of both stores: whole microseconds since 2026, and milliseconds since 1970. */
class SharedTime {
  micros = 0;
  wallMs = EPOCH_MS;
  nowMicros = (): number => this.micros;
  wallNow = (): number => this.wallMs;
  alarm = (): never => unexpected('alarm');
  endOfTurn = (): never => unexpected('endOfTurn');
}

function unexpected(name: string): never {
  throw new Error(`A store asks for ${name}`);
}

/** A memory store and a Redis with the same buckets and the same time. */
export class BothStores {
  readonly time: SharedTime = new SharedTime();
  readonly redis: RedisData = new RedisData();
  readonly #memory = memoryStore({ time: this.time });

  constructor() {
    // The time of a memory store begins at its first reading.
    this.#memory.run({ kind: 'reset', batch: [] });
  }

  setTime(micros: number): void {
    this.time.micros = micros;
    this.redis.nowMicros = micros;
  }

  /**
   * Sets the clocks by which calendar periods are chosen.
   *
   * @param ms - Since 2026.
   * @param micros - What the clock of Redis shows above that, at most 999.
   */
  setWall(ms: number, micros: number = 0): void {
    this.time.wallMs = EPOCH_MS + ms;
    this.redis.nowMicros = 1000 * ms + micros;
  }

  get nowTicks(): number {
    return 16 * (this.redis.nowMicros as number);
  }

  /** Gives a bucket a level at the present time. */
  put(id: string, levelTicks: number): void {
    this.memory('charge', [{ id, incrementTicks: levelTicks, capTicks: levelTicks }]);
    this.redis.keys.set(id, { value: bucketText(this.nowTicks + levelTicks, levelTicks) });
  }

  /** A bucket of Redis that was written with another level than it has by the clock. */
  putWritten(id: string, levelTicks: number, writtenTicks: number): void {
    this.redis.keys.set(id, { value: bucketText(this.nowTicks + levelTicks, writtenTicks) });
  }

  /** A bucket of Redis with a period that ends at a time in milliseconds since 2026. */
  putUsed(id: string, endMs: number, used: number): void {
    this.redis.keys.set(id, { value: bucketText(16_000 * endMs + used, used) });
  }

  /** What remains of a level after it was written with a bucket: rounded up by at most a sixteenth. */
  writtenLevel(levelTicks: number): number {
    return roundedUp(levelTicks) as number;
  }

  memory(kind: Kind, batch: readonly Entry[]): readonly number[] {
    const { levelsTicks } = this.memoryReading(kind, batch);
    return kind === 'reset' ? batch.map(() => 0) : levelsTicks;
  }

  memoryReading(kind: Kind, batch: readonly Entry[]): StoreReading {
    const named = batch.map(withLimit);
    const isDecided = kind === 'spend' || kind === 'check';
    const operation = isDecided ? { kind, alternatives: [named] } : { kind, batch: named };
    return this.#memory.run(operation as StoreOperation);
  }

  /** A reading, or the error for stale periods. */
  memoryAnswer(kind: Kind, batch: readonly Entry[]): StoreReading | StalePeriodError {
    try {
      return this.memoryReading(kind, batch);
    } catch (error) {
      if (error instanceof StalePeriodError) return error;
      throw error;
    }
  }

  /** Whether a batch passes: as a limiter takes one from the memory store. */
  memoryTakes(batch: readonly Entry[]): boolean {
    const reading = emptyReading(batch.length);
    this.#memory.take(batch.map(withLimit) as never, reading);
    return reading.passed === 0;
  }

  /** The reading of alternatives. */
  memoryFirst(alternatives: readonly (readonly Entry[])[]): StoreReading {
    const named = alternatives.map((batch) => batch.map(withLimit));
    return this.#memory.run({ kind: 'spend', alternatives: named } as StoreOperation);
  }

  memoryLevel(id: string): number {
    return this.memory('check', [{ id, mode: 'check-only', incrementTicks: 0, fitTicks: 0, capTicks: 0 }])[0]!;
  }

  /** The TAT of a bucket in Redis; now without a key. */
  redisTat(id: string): number {
    const written = this.redis.keys.get(id);
    return written === undefined ? this.nowTicks : tatIn(written.value);
  }

  /** The level of a bucket in Redis. */
  redisLevel(id: string): number {
    return Math.max(this.redisTat(id) - this.nowTicks, 0);
  }

  /** The level that a bucket in Redis was written with; undefined without a key. */
  redisWritten(id: string): number | undefined {
    const value = this.redis.keys.get(id)?.value;
    if (value instanceof BucketText) return value.code.level as number;
    return value === undefined ? undefined : levelOfCode(Number((value as string).slice(-3)));
  }

  lifeMs(id: string): number | undefined {
    return this.redis.keys.get(id)?.lifeMs as number | undefined;
  }

  script(kind: Kind, batch: readonly Entry[]): readonly number[] {
    return this.run([{ kind, batch }]);
  }

  /** The same, without the short way for one plain transaction. */
  scriptInFull(kind: Kind, batch: readonly Entry[]): readonly number[] {
    return this.#execute([parts(kind, batch)], NEVER, IN_FULL);
  }

  /** What a caller of the Redis store is told of alternatives. */
  scriptFirst(alternatives: readonly (readonly Entry[])[]): StoreReading {
    const levelsTicks = this.#execute([
      {
        kind: 'spend',
        batch: alternatives.flat(),
        keys: alternatives.flat().map(({ id }) => id),
        alternatives: alternatives.map((batch) => parts('spend', batch)),
      },
    ]);
    const batches = alternatives.map((batch) => batch.map(withLimit)) as readonly (readonly StoreTransaction[])[];
    return decidedReading(batches, { nowTicks: this.nowTicks, levelsTicks });
  }

  /** Several batches in one call. */
  run(
    calls: readonly { readonly kind: Kind; readonly batch: readonly Entry[] }[],
    lastTicks: number = NEVER,
  ): readonly number[] {
    return this.#execute(
      calls.map(({ kind, batch }) => parts(kind, batch)),
      lastTicks,
    );
  }

  /** What a caller of the Redis store is told of a batch with periods. */
  scriptAnswer(kind: Kind, batch: readonly Entry[]): StoreReading | StalePeriodError {
    const reading = { nowTicks: this.nowTicks, levelsTicks: this.script(kind, batch) };
    return findStalePeriod(batch, reading) ?? withPeriods(batch, reading);
  }

  #execute(calls: readonly object[], lastTicks: number = NEVER, program = DECIDE): readonly number[] {
    const encoded = new ScriptBatch(50, 0, () => undefined);
    for (const call of calls) encoded.add(call as never);
    const [flag, now, ...levels] = this.redis.run(program, encoded.keys, [lastTicks, ...encoded.args]) as number[];
    if (now !== this.nowTicks) throw new Error('The script replies another time');
    return flag === 1 ? levels : [];
  }
}

/** All buckets of a store are of one limit here, as the keys of the script are ids alone. */
function withLimit(entry: Entry): object {
  return { ...entry, limit: 'Limit' };
}

function parts(kind: BatchKind, batch: readonly Entry[]): object {
  return { kind, batch, keys: batch.map(({ id }) => id), deadlineMs: 50 };
}

/** The TAT in the value of a bucket. */
export function tatIn(value: unknown): number {
  return value instanceof BucketText ? (value.tat as number) : Number(String(value).slice(0, -3));
}
