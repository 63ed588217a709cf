import { storeGuard } from '../../../src/failure/store-guard.ts';
import type { Awaitable } from '../../../src/async/awaitable.ts';
import type { Store, StoreReading, StoreReport, StoreTraits, StoreOperation } from '../../../src/store/store.ts';

type CallName = StoreOperation['kind'] | 'close';
type Batch = readonly unknown[];

/** What a store does when it is called. It may break its word, hence `unknown`. */
export type Behaviour = (batch: Batch) => unknown;

/** A store that does what the test says, and remembers how it was called. */
export class ScriptedStore implements Store {
  readonly calls: { readonly name: CallName; readonly batch: Batch; readonly deadlineMs: number | undefined }[] = [];
  behaviour: Behaviour;
  readonly guard: object = storeGuard;
  readonly traits: StoreTraits;
  readonly listeners: Set<(report: StoreReport) => void> = new Set();

  constructor(behaviour: Behaviour, traits: StoreTraits = {}) {
    this.behaviour = behaviour;
    this.traits = traits;
  }

  run(operation: StoreOperation, deadlineMs?: number): Awaitable<StoreReading> {
    const [first = []] = 'alternatives' in operation ? operation.alternatives : [];
    const batch = 'alternatives' in operation ? first : operation.batch;
    return this.#call(operation.kind, batch, deadlineMs) as Awaitable<StoreReading>;
  }
  close(): Awaitable<void> {
    return this.#call('close', [], undefined) as Awaitable<void>;
  }

  watch(listener: (report: StoreReport) => void): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  /** Reports to all listeners, as a store does that finds out something by itself. */
  report(report: StoreReport): void {
    for (const listener of this.listeners) listener(report);
  }

  #call(name: CallName, batch: Batch, deadlineMs: number | undefined): unknown {
    this.calls.push({ name, batch, deadlineMs });
    return this.behaviour(batch);
  }
}

/** The reading of full buckets. */
export const reading = (batch: Batch): StoreReading => ({ passed: 0, nowTicks: 7, levelsTicks: batch.map(() => 0) });

export const answersAtOnce: Behaviour = (batch) => reading(batch);
export const answersSoon: Behaviour = (batch) => Promise.resolve(reading(batch));
/** Answers without asking anybody. */
export const remembers: Behaviour = (batch) => Promise.resolve({ ...reading(batch), remembered: true });
export const hangs: Behaviour = () => new Promise(() => {});
export const rejects =
  (cause: unknown): Behaviour =>
  () =>
    Promise.reject(cause);
export const throws =
  (cause: unknown): Behaviour =>
  () => {
    throw cause;
  };
export const answers =
  (answer: unknown): Behaviour =>
  () =>
    Promise.resolve(answer);
