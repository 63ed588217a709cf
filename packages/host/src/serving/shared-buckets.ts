import { memoryStore, type MemoryStore, type MemoryStoreOptions } from '@sluice/core';
import { dumpParts, restorePart } from '@sluice/core/dump';
import {
  TICKS_PER_MICRO,
  type StoreOperation,
  type StoreReading,
  type StoreReport,
  type StoreTransaction,
} from '@sluice/core/store';
import { randomBytes } from 'node:crypto';
import type { HostReading } from '../wire/answer-codec.ts';
import { TURNS } from '../wire/hello.ts';
import type { HostOperation } from '../wire/operation-codec.ts';
import { hostMicros } from './host-clock.ts';

/**
 * The buckets that a process serves: a memory store whose readings count from the origin of the clock of the host. A
 * refund of a decision that another process made, before it ended, therefore does not give back more than it may.
 */
export class SharedBuckets {
  /** 12 hexadecimal digits that identify these buckets: others have others. They keep them when they are handed over. */
  readonly id: string;
  /** How often they were handed over, modulo 65,536. */
  readonly turn: number;
  readonly #memory: MemoryStore;
  readonly #originTicks: number;

  /** @param handed - Which buckets another process has handed over. Their parts are then added. */
  constructor(options: MemoryStoreOptions, handed?: Pick<SharedBuckets, 'id' | 'turn'>) {
    this.id = handed?.id ?? randomBytes(6).toString('hex');
    this.turn = handed === undefined ? 0 : (handed.turn + 1) % TURNS;
    this.#memory = memoryStore(options);
    // The time of a memory store begins with its first call.
    const { nowTicks } = this.#memory.run({ kind: 'check', alternatives: [[]] });
    this.#originTicks = hostMicros() * TICKS_PER_MICRO - nowTicks;
  }

  /** Executes an operation. Throws what a memory store throws. */
  run(operation: HostOperation): HostReading {
    if (operation.kind === 'holders')
      return { passed: 0, nowTicks: 0, levelsTicks: [], holders: this.#memory.holders(operation.batch) };
    // The usual call, for which the memory store has a shorter way.
    if (operation.kind === 'spend' && operation.alternatives.length === 1)
      return this.#spend(operation.alternatives[0]!);
    return this.#fromOrigin(this.#memory.run(this.#toOrigin(operation)));
  }

  /** Returns the contents in parts, for another process. They must not be used any more. */
  parts(): Iterable<Uint8Array> {
    return dumpParts(this.#memory);
  }

  /** @throws {SluiceError} `ERR_DUMP` if it is not a part of other buckets. */
  add(part: Uint8Array): void {
    restorePart(this.#memory, part);
  }

  watch(listener: (report: StoreReport) => void): () => void {
    return this.#memory.watch(listener);
  }

  close(): void {
    this.#memory.close();
  }

  #spend(batch: readonly StoreTransaction[]): StoreReading {
    const levelsTicks = batch.length === 1 ? [NaN] : batch.map(() => NaN);
    const reading = { passed: undefined, nowTicks: 0, levelsTicks, bucketNowTicks: undefined, bucketWallMs: undefined };
    this.#memory.take(batch, reading);
    return this.#fromOrigin(reading);
  }

  #toOrigin(operation: StoreOperation): StoreOperation {
    if (operation.kind !== 'refund') return operation;
    const batch = operation.batch.map((refund) => {
      const { tatAfterSpendTicks, period } = refund;
      // The moment of a period is one of the wall clock.
      if (tatAfterSpendTicks === undefined || period !== undefined) return refund;
      return { ...refund, tatAfterSpendTicks: tatAfterSpendTicks - this.#originTicks };
    });
    return { kind: 'refund', batch };
  }

  #fromOrigin({ passed, nowTicks, levelsTicks, bucketNowTicks, bucketWallMs }: StoreReading): StoreReading {
    const shifted = nowTicks + this.#originTicks;
    if (bucketNowTicks === undefined) return { passed, nowTicks: shifted, levelsTicks };
    const clocks = bucketNowTicks.map((ticks, i) =>
      bucketWallMs?.[i] === undefined ? ticks + this.#originTicks : ticks,
    );
    return { passed, nowTicks: shifted, levelsTicks, bucketNowTicks: clocks, bucketWallMs };
  }
}
