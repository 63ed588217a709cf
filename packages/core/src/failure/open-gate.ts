import type { Awaitable } from '../async/awaitable.ts';
import { SluiceError } from '../checks/errors.ts';
import type { Changed, Charge } from '../decision/batch-answer.ts';
import { Decided } from '../decision/decided.ts';
import type { Transaction } from '../decision/transaction.ts';
import { readingsOf } from '../store/alternatives.ts';
import { isStalePeriod } from '../store/calendar-period.ts';
import { checkReadyOptions, type ReadyOptions } from '../store/ready-options.ts';
import type { Store, StoreOperation, StoreReading, StoreRefund } from '../store/store.ts';
import type { StoreCalls } from '../store/store-calls.ts';
import type { Alternatives } from './fallback.ts';
import { closed, originsOf, type Command, type Origins, type StoreGate } from './store-gate.ts';
import type { StoreStatus } from './store-health.ts';

/**
 * The gate to a store that answers synchronously and can't fail: it adds nothing. An error of such a store means wrong
 * use.
 */
export class OpenGate implements StoreGate {
  readonly #store: Store;
  readonly #origins: Origins;
  readonly #since: Date;
  readonly #calls: StoreCalls;
  #canTake: boolean;
  #closed = false;

  constructor(store: Store, calls: StoreCalls) {
    this.#store = store;
    this.#origins = originsOf(this, store);
    this.#calls = calls;
    this.#since = new Date(calls.time.wallNow());
    this.#canTake = hasTake(store);
  }

  decide(call: 'spend' | 'check', batch: readonly Transaction[]): Decided {
    if (call === 'check' || !this.#canTake) return this.#decideByRun(call, batch);
    const decision = new Decided(batch, this.#origins.spend);
    try {
      this.#store.take!(batch, decision);
    } catch (error) {
      return this.#spendAgain(batch, error);
    }
    return decision;
  }

  #spendAgain(batch: readonly Transaction[], error: unknown): Decided {
    if (!isStalePeriod(error)) throw error;
    return this.#decideByRun('spend', batch);
  }

  #decideByRun(kind: 'spend' | 'check', batch: readonly Transaction[]): Decided {
    return new Decided(batch, this.#origins[kind], this.#run({ kind, alternatives: [batch] }));
  }

  read(batch: readonly Transaction[]): Changed<Transaction> {
    return { batch, reading: this.#run({ kind: 'check', alternatives: [batch] }), store: this.#store };
  }

  decideFirst(kind: 'spend' | 'check', alternatives: Alternatives): readonly Decided[] {
    const readings = readingsOf(alternatives, this.#run({ kind, alternatives }));
    return readings.map((reading, i) => new Decided(alternatives[i]!, this.#origins[kind], reading));
  }

  charge<T extends Charge>(batch: readonly T[]): Changed<T> {
    return { batch, reading: this.#run({ kind: 'charge', batch }), store: this.#store };
  }

  refund<T extends Charge & StoreRefund>(store: Store, batch: readonly T[]): Changed<T> {
    return { batch, reading: this.#run({ kind: 'refund', batch }), store };
  }

  run(operation: Command): void {
    this.assertOpen();
    // None has a period: quotas have no debts to cap.
    atOnce(this.#store.run(operation));
  }

  /** What takes time is not the store. */
  within<T>(answer: Promise<T>): Promise<T> {
    return answer;
  }

  async ready(options?: ReadyOptions): Promise<void> {
    this.assertOpen();
    checkReadyOptions(options);
  }

  /** Does nothing: a store that can't fail is never down. */
  noteReport(): void {}

  status(): StoreStatus {
    return { state: 'up', since: this.#since, outages: 0, decidedByPolicy: 0, lastFailure: undefined };
  }

  assertOpen(): void {
    if (this.#closed) throw closed();
  }

  close(): void {
    this.#closed = true;
    // What is left is to reject calls, which `run` does.
    this.#canTake = false;
  }

  #run(operation: StoreOperation): StoreReading {
    this.assertOpen();
    return atOnce(this.#calls.run(this.#store, operation));
  }
}

/**
 * Whether a store has its own `take`. One that inherits it, and replaces only `run`, wraps all operations by that: its `take`
 * would pass by the wrapper.
 */
function hasTake(store: Store): boolean {
  if (store.take === undefined) return false;
  let owner: object = store;
  while (!Object.hasOwn(owner, 'run') && !Object.hasOwn(owner, 'take')) owner = Object.getPrototypeOf(owner) as object;
  return Object.hasOwn(owner, 'take');
}

function atOnce<T>(reading: Awaitable<T>): T {
  if (reading instanceof Promise) throw notAtOnce(reading);
  return reading;
}

function notAtOnce(reading: Promise<unknown>): SluiceError {
  // Avoids an unhandled rejection: this error replaces the answer.
  reading.catch(() => undefined);
  return new SluiceError(
    'ERR_STORE_ANSWER',
    'The store has the trait `answersAtOnce`, but returned a promise. Remove `answersAtOnce` from its `traits`, and add ' +
      "`readonly guard = storeGuard`, with import { storeGuard } from '@sluice/core/store'.",
  );
}
