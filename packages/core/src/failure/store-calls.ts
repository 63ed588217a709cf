import type { Awaitable } from '../async/awaitable.ts';
import { decisionOf } from '../decision/decide.ts';
import type { Decision } from '../decision/decision.ts';
import { reasonOf, SluiceError } from '../checks/errors.ts';
import type { BucketName, Store, StoreCap, StoreReading, StoreRefund } from '../store/store.ts';
import type { Transaction } from '../decision/transaction.ts';
import { checkReading, EMPTY_READING } from './reading.ts';
import type { Fallback } from './fallback.ts';
import type { Changed, Charge } from '../decision/batch-answer.ts';
import type { StoreHealth } from './store-health.ts';

/** One kind of call to a store: how it is sent, and what is said when an answer came and when none did. */
export interface StoreCall<Batch, Outcome> {
  send(batch: Batch, deadlineMs: number): unknown;
  /** @throws {SluiceError} `ERR_STORE_ANSWER` for what is no answer. */
  check(batch: Batch, answer: unknown): void;
  /** @param reading - Checked. */
  accept(batch: Batch, reading: StoreReading): Outcome;
  refuse(batch: Batch, cause: unknown): Awaitable<Outcome>;
}

/** What the calls need. */
export interface StoreCallParts {
  readonly store: Store;
  readonly fallback: Fallback;
  readonly health: StoreHealth;
  /** The gate that makes the calls. */
  readonly owner: object;
}

/** `spend` and `check`: refused, a policy decides. */
export function decidingCall(
  name: 'spend' | 'check',
  { store, fallback, health, owner }: StoreCallParts,
): StoreCall<readonly Transaction[], Decision> {
  const takes = name === 'spend';
  return {
    send: (batch, deadlineMs) => store[name](batch, deadlineMs),
    check: checkReading,
    accept: (batch, reading) =>
      decisionOf({ available: true, batch, reading, store, failure: undefined, owner }, takes),
    refuse(batch, cause) {
      health.decidedByPolicy();
      return decisionOf(fallback.decide(name, batch, cause), takes);
    },
  };
}

/** Refused, the `local` limits are charged locally and the others not at all. */
export function chargeCall<T extends Charge>({
  store,
  fallback,
  health,
}: StoreCallParts): StoreCall<readonly T[], Changed<T>> {
  return {
    send: (batch, deadlineMs) => store.charge(batch, deadlineMs),
    check: checkReading,
    accept: (batch, reading) => ({ batch, reading, store }),
    refuse(batch, cause) {
      const charged = fallback.charge(batch);
      health.lostCharges(batch.length - charged.batch.length, cause);
      return charged;
    },
  };
}

/** Refused, the tokens stay taken: that is the safe side, and they come back by themselves. */
export function refundCall<T extends StoreRefund>({
  store,
  health,
}: StoreCallParts): StoreCall<readonly T[], Changed<T>> {
  return {
    send: (batch, deadlineMs) => store.refund(batch, deadlineMs),
    check: checkReading,
    accept: (batch, reading) => ({ batch, reading, store }),
    refuse(batch, cause) {
      health.lostRefunds(batch.length, cause);
      return { batch: [], reading: EMPTY_READING, store };
    },
  };
}

/** Refused, it is an error: the debts may be as they were. */
export function capCall({ store }: StoreCallParts): StoreCall<readonly StoreCap[], void> {
  return {
    send: (batch, deadlineMs) => store.cap!(batch, deadlineMs),
    check: checkReading,
    accept: () => undefined,
    refuse: (_batch, cause) => Promise.reject(cause),
  };
}

/** Refused, it is an error: an operator who resets a bucket must know that it may be as it was. */
export function resetCall({ store }: StoreCallParts): StoreCall<readonly BucketName[], void> {
  return {
    send: (batch, deadlineMs) => store.reset(batch, deadlineMs),
    check: () => undefined,
    accept: () => undefined,
    refuse(_batch, cause) {
      const message =
        'The store did not confirm the reset: all, some or none of the buckets may be full now. ' +
        'Reset them again when the store answers.';
      return Promise.reject(new SluiceError('ERR_STORE_UNAVAILABLE', message, { cause }));
    },
  };
}

/** Whether the store answers at all: it is asked for no bucket. Refused, it is an error. */
export function trialCall({ store }: StoreCallParts): StoreCall<readonly [], void> {
  return {
    send: (batch, deadlineMs) => store.check(batch, deadlineMs),
    check: checkReading,
    accept: () => undefined,
    refuse(_batch, cause) {
      const message = `The store is connected, but failed to answer (${reasonOf(cause)}).`;
      return Promise.reject(new SluiceError('ERR_STORE_UNAVAILABLE', message, { cause }));
    },
  };
}
