import { memoryStore, type MemoryStore, type Store } from '@sluice/core';
import { storeGuard, type StoreOperation, type StoreReading } from '@sluice/core/store';
import type { FakeTime } from '@sluice/core/testing';
import { settled } from '../../../../support/promises.ts';

type CallName = StoreOperation['kind'];

/** How a remote store answers a call: at once, after a time, or never; or it does not do what it is asked for. */
export type Manner = 'answers' | 'slow' | 'hangs' | 'loses' | Error;

/** A store on another machine: it returns promises, and can be slow, or fail, or be cut off. */
export class RemoteStore implements Store {
  readonly guard: object = storeGuard;
  readonly traits = { periods: true, slots: true } as const;
  readonly memory: MemoryStore;
  /** The calls, without those of the test itself. */
  readonly calls: { readonly name: CallName; readonly batch: readonly unknown[] }[] = [];
  manner: Manner = 'answers';
  /** Ends the calls that are `slow`, in their order. */
  readonly #slow: (() => void)[] = [];

  /** @param memory - What several processes share; by default a store of its own. */
  constructor(time: FakeTime, memory: MemoryStore = memoryStore({ time })) {
    this.memory = memory;
  }

  /** Answers all calls that are `slow`. */
  async answerSlow(): Promise<void> {
    for (const answer of this.#slow.splice(0)) answer();
    await settled();
  }

  /** The names of the calls since the last look. */
  named(): readonly CallName[] {
    return this.calls.splice(0).map(({ name }) => name);
  }

  async run(operation: StoreOperation): Promise<StoreReading> {
    this.calls.push({
      name: operation.kind,
      batch: 'batch' in operation ? operation.batch : operation.alternatives.flat(),
    });
    const { manner } = this;
    if (manner instanceof Error) throw manner;
    if (manner === 'slow') await new Promise<void>((resolve) => this.#slow.push(resolve));
    // A call that `loses` is executed; only its answer is lost.
    const answer = manner === 'hangs' ? undefined : this.memory.run(operation);
    return manner === 'hangs' || manner === 'loses' ? new Promise(() => {}) : answer!;
  }

  close(): void {}
}
