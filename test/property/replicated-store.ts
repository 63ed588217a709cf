import { memoryStore, type Awaitable, type MemoryStore, type Store } from '@sluice/core';
import { storeGuard, type StoreOperation, type StoreReading } from '@sluice/core/store';
import type { ServerTime } from './gateway-times.ts';

/** A store with a replica that lags behind. */
export interface ReplicatedStore extends Store {
  /** Copies everything to the replica. */
  copy(): Awaitable<void>;
  /** The replica takes over: what the store has written since the last copy is lost. */
  failOver(): Awaitable<void>;
}

interface Call {
  readonly operation: StoreOperation;
  readonly atMicros: number;
}

/** A memory store whose replica makes the same calls, each at its own time, up to the last copy. */
export class ReplicatedMemory implements ReplicatedStore {
  readonly guard: object = storeGuard;
  readonly traits = { slots: true } as const;
  readonly #time: ServerTime;
  readonly #startMicros: number;
  readonly #calls: Call[] = [];
  #copied = 0;
  #store: MemoryStore;

  constructor(time: ServerTime) {
    this.#time = time;
    this.#startMicros = time.nowMicros();
    this.#store = memoryStore({ time });
  }

  run(operation: StoreOperation): StoreReading {
    this.#calls.push({ operation, atMicros: this.#time.nowMicros() });
    return this.#store.run(operation);
  }

  copy(): void {
    this.#copied = this.#calls.length;
  }

  failOver(): void {
    this.#calls.length = this.#copied;
    let replayedMicros: number | undefined = this.#startMicros;
    const nowMicros = (): number => replayedMicros ?? this.#time.nowMicros();
    const { wallNow, alarm, endOfTurn } = this.#time;
    this.#store = memoryStore({ time: { nowMicros, wallNow, alarm, endOfTurn } });
    for (const { operation, atMicros } of this.#calls) {
      replayedMicros = atMicros;
      this.#store.run(operation);
    }
    replayedMicros = undefined;
  }

  close(): void {}
}
