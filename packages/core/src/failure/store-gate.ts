import type { Awaitable } from '../async/awaitable.ts';
import type { Origin } from '../decision/batch-answer.ts';
import { Decided } from '../decision/decided.ts';
import { isStalePeriod } from '../store/calendar-period.ts';
import { readingsOf } from '../store/alternatives.ts';
import {
  type Store,
  type StoreReading,
  type StoreRefund,
  type StoreReport,
  type StoreOperation,
} from '../store/store.ts';
import type { Transaction } from '../decision/transaction.ts';
import type { Changed, Charge } from '../decision/batch-answer.ts';
import { checkReadyOptions, type ReadyOptions } from '../store/ready-options.ts';
import type { Alternatives } from './fallback.ts';
import type { StoreStatus } from './store-health.ts';
import { StalePeriods } from './stale-periods.ts';
import { SluiceError } from '../checks/errors.ts';
import { StoreWall } from '../time/store-wall.ts';
import type { Time } from '../time/time.ts';

/** An operation of which a limiter wants to know only whether it was executed. */
export type Command = Extract<StoreOperation, { readonly kind: 'cap' | 'reset' | 'renew' | 'release' }>;

/** The path from a limiter to its store. Every call except `status` and `close` throws `ERR_CLOSED` after `close`. */
export interface StoreGate {
  /** Decides a batch, and takes its tokens if the call is `spend`. */
  decide(call: 'spend' | 'check', batch: readonly Transaction[]): Awaitable<Decided>;
  /**
   * Decides batches in order until one passes, in one call of the store, and takes the tokens of that one if the call is
   * `spend`.
   *
   * @returns The decisions of the batches that were tried: all but the last are denied.
   */
  decideFirst(call: 'spend' | 'check', alternatives: Alternatives): Awaitable<readonly Decided[]>;
  /** Takes tokens after the fact. */
  charge<T extends Charge>(batch: readonly T[]): Awaitable<Changed<T>>;
  /**
   * Gives tokens back.
   *
   * @param store - The store that took them: that of the decision.
   */
  refund<T extends Charge & StoreRefund>(store: Store, batch: readonly T[]): Awaitable<Changed<T>>;
  /** Reads the levels of buckets. Rejects with `ERR_STORE_UNAVAILABLE` when the store can't answer. */
  read(batch: readonly Transaction[]): Awaitable<Changed<Transaction>>;
  /**
   * Executes an operation without an answer. When the store can't, `cap` rejects with its error, and `reset` with
   * `ERR_STORE_UNAVAILABLE`; slots are then renewed by a later `renew`, and are free when they expire.
   */
  run(operation: Command): Awaitable<void>;
  /** Resolves when the store can answer. */
  ready(options?: ReadyOptions): Promise<void>;
  /** Takes note of a report of the store about itself. It never throws. */
  noteReport(report: StoreReport): void;
  /** Reports the state of the store. */
  status(): StoreStatus;
  /** Throws `ERR_CLOSED` after {@link close}. */
  assertOpen(): void;
  /** Closes the gate, not the store. Repeated calls do nothing. */
  close(): void;
}

/**
 * The gate to a store that answers synchronously and can't fail: it adds nothing. An error of such a store means wrong
 * use.
 */
export class OpenGate implements StoreGate {
  readonly #store: Store;
  readonly #origins: Origins;
  readonly #since: Date;
  readonly #periods: StalePeriods;
  #canTake: boolean;
  #closed = false;

  /** @param wall - The clock by which the periods of batches are chosen. */
  constructor(store: Store, time: Time, wall: StoreWall = new StoreWall(time)) {
    this.#store = store;
    this.#origins = originsOf(this, store);
    this.#periods = new StalePeriods(wall, time);
    this.#since = new Date(time.wallNow());
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
    this.assertOpen();
    return { batch, reading: atOnce(this.#periods.runOther(store, { kind: 'refund', batch })), store };
  }

  run(operation: Command): void {
    this.assertOpen();
    // None has a period: quotas have no debts to cap.
    atOnce(this.#store.run(operation));
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
    return atOnce(this.#periods.run(this.#store, operation));
  }
}

/** The origins of decisions by each call of a gate. */
export type Origins = Readonly<Record<'spend' | 'check', Origin>>;

/** @param owner - The gate. */
export function originsOf(owner: object, store: Store): Origins {
  const origin = { owner, store, failure: undefined };
  return { spend: { ...origin, takes: true }, check: { ...origin, takes: false } };
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
    'The store has the trait `answersAtOnce`, but returned a promise. Remove `answersAtOnce` from its `traits`.',
  );
}

/** Creates the error for calls after `close`. */
export function closed(): SluiceError {
  return new SluiceError('ERR_CLOSED', 'The limiter is closed. Make a new one with createLimiter().');
}
