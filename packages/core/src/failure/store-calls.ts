import type { Awaitable } from '../async/awaitable.ts';
import { decisionOf } from '../decision/decide.ts';
import type { Decision } from '../decision/decision.ts';
import { reasonOf, SluiceError } from '../checks/errors.ts';
import type { StoreBucket, Store, StoreCap, StoreHold, StoreReading, StoreRefund } from '../store/store.ts';
import { countNamed } from '../decision/loan.ts';
import type { Transaction } from '../decision/transaction.ts';
import { readFirst, type Alternatives, type FirstReading } from './alternatives.ts';
import { checkReading, EMPTY_READING } from './reading.ts';
import type { Fallback } from './fallback.ts';
import { spendIntoOf, type SpendInto } from './spend-into.ts';
import type { Changed, Charge } from '../decision/batch-answer.ts';
import type { StalePeriods } from './stale-periods.ts';
import type { StoreHealth } from './store-health.ts';

/**
 * One kind of call to a store: how to send it, how to validate its answer, and what to return with and without an
 * answer.
 */
export interface StoreCall<Batch, Outcome> {
  send(batch: Batch, deadlineMs: number): unknown;
  /** For `spend`: returns what sends the batch and gives the outcome to a sink, if the store can do that now. */
  into?(): SpendInto | undefined;
  /** @throws {SluiceError} `ERR_STORE_ANSWER` for an invalid answer. */
  check(batch: Batch, answer: unknown): void;
  /** @param reading - Valid, see `check`. */
  accept(batch: Batch, reading: StoreReading): Outcome;
  withoutAnswer(batch: Batch, cause: unknown): Awaitable<Outcome>;
}

/** The parts that the calls share. */
export interface StoreCallParts {
  readonly store: Store;
  readonly fallback: Fallback;
  readonly health: StoreHealth;
  /** The gate that makes the calls. */
  readonly owner: object;
  /** Repeats calls whose periods are stale. */
  readonly periods: StalePeriods;
}

/** All calls to one store. */
export interface StoreCalls {
  readonly spend: StoreCall<readonly Transaction[], Decision>;
  readonly check: StoreCall<readonly Transaction[], Decision>;
  readonly spendFirst: StoreCall<Alternatives, readonly Decision[]>;
  readonly checkFirst: StoreCall<Alternatives, readonly Decision[]>;
  readonly charge: StoreCall<readonly Charge[], Changed<Charge>>;
  readonly refund: StoreCall<readonly (Charge & StoreRefund)[], Changed<Charge & StoreRefund>>;
  readonly read: StoreCall<readonly Transaction[], Changed<Transaction>>;
  readonly cap: StoreCall<readonly StoreCap[], void>;
  readonly reset: StoreCall<readonly StoreBucket[], void>;
  readonly renew: StoreCall<readonly StoreHold[], void>;
  readonly release: StoreCall<readonly StoreHold[], void>;
  readonly trial: StoreCall<readonly [], void>;
}

/** Makes the calls of one store. */
export function storeCalls(parts: StoreCallParts): StoreCalls {
  return {
    spend: decidingCall('spend', parts),
    check: decidingCall('check', parts),
    spendFirst: decidingFirstCall('spend', parts),
    checkFirst: decidingFirstCall('check', parts),
    charge: chargeCall(parts),
    refund: refundCall(parts),
    read: readCall(parts),
    cap: capCall(parts),
    reset: resetCall(parts),
    renew: leaseCall('renew', parts),
    release: leaseCall('release', parts),
    trial: trialCall(parts),
  };
}

/** `spend` or `check`. Without an answer of the store, the failure policies decide. */
function decidingCall(
  name: 'spend' | 'check',
  { store, fallback, health, owner, periods }: StoreCallParts,
): StoreCall<readonly Transaction[], Decision> {
  const takes = name === 'spend';
  return {
    into: () => (takes && !periods.areUsed ? spendIntoOf(store) : undefined),
    send: (batch, deadlineMs) =>
      periods.areUsed
        ? periods.call({ batch, deadlineMs, send: (current, leftMs) => store[name](current, leftMs) })
        : store[name](batch, deadlineMs),
    check: checkReading,
    accept: (batch, reading) =>
      decisionOf({ available: true, batch, reading, store, failure: undefined, owner }, takes),
    withoutAnswer(batch, cause) {
      health.decidedByPolicy();
      return decisionOf(fallback.decide(name, batch, cause), takes);
    },
  };
}

/**
 * `spend` or `check` of the first of several batches that passes. The outcome is one decision for each that was tried.
 */
function decidingFirstCall(
  name: 'spend' | 'check',
  { store, fallback, health, owner, periods }: StoreCallParts,
): StoreCall<Alternatives, readonly Decision[]> {
  const takes = name === 'spend';
  return {
    send: (batch, deadlineMs) =>
      periods.call({ batch, deadlineMs, send: (current, leftMs) => readFirst(name, store, current, leftMs) }),
    // `send` has checked it.
    check: () => undefined,
    accept: (alternatives, reading) =>
      (reading as FirstReading).readings.map((each, i) => {
        const batch = alternatives[i]!;
        return decisionOf({ available: true, batch, reading: each, store, failure: undefined, owner }, takes);
      }),
    withoutAnswer(alternatives, cause) {
      health.decidedByPolicy();
      return fallback.decideFirst(name, alternatives, cause).map((answer) => decisionOf(answer, takes));
    },
  };
}

/** A call whose outcome are the levels of its buckets. */
function sent<T extends Charge>(
  name: 'charge' | 'refund' | 'check',
  store: Store,
  periods: StalePeriods,
): Omit<StoreCall<readonly T[], Changed<T>>, 'withoutAnswer'> {
  return {
    send: (batch, deadlineMs) =>
      periods.call({ batch, deadlineMs, send: (current, leftMs) => store[name](current as never, leftMs) }),
    check: checkReading,
    accept: (batch, reading) => ({ batch, reading, store }),
  };
}

/** `charge`. Without an answer of the store, `local` limits are charged in this process; the other charges are lost. */
function chargeCall<T extends Charge>({
  store,
  fallback,
  health,
  periods,
}: StoreCallParts): StoreCall<readonly T[], Changed<T>> {
  return {
    ...sent('charge', store, periods),
    withoutAnswer(batch, cause) {
      const charged = fallback.charge(batch);
      health.lostCharges(countNamed(batch) - countNamed(charged.batch), cause);
      return charged;
    },
  };
}

/**
 * `refund`. Without an answer of the store, the tokens stay taken: that is the safe side, and they refill by
 * themselves.
 */
function refundCall<T extends Charge & StoreRefund>({
  store,
  health,
  periods,
}: StoreCallParts): StoreCall<readonly T[], Changed<T>> {
  return {
    ...sent('refund', store, periods),
    withoutAnswer(batch, cause) {
      health.lostRefunds(countNamed(batch), cause);
      return { batch: [], reading: EMPTY_READING, store };
    },
  };
}

/**
 * A `check` that returns levels. It rejects when the store can't answer, because a policy knows only a part of a count.
 */
function readCall({ store, periods }: StoreCallParts): StoreCall<readonly Transaction[], Changed<Transaction>> {
  return {
    ...sent('check', store, periods),
    withoutAnswer(_batch, cause) {
      const message = `The store can't answer (${reasonOf(cause)}), and only it knows the whole count. Try again later.`;
      return Promise.reject(new SluiceError('ERR_STORE_UNAVAILABLE', message, { cause }));
    },
  };
}

/** `cap`. Without an answer of the store, it rejects: the debts may be unchanged. */
function capCall({ store }: StoreCallParts): StoreCall<readonly StoreCap[], void> {
  return {
    send: (batch, deadlineMs) => store.cap!(batch, deadlineMs),
    check: checkReading,
    accept: () => undefined,
    withoutAnswer: (_batch, cause) => Promise.reject(cause),
  };
}

/** `reset`. Without an answer of the store, it rejects: an operator must know that the bucket may be unchanged. */
function resetCall({ store }: StoreCallParts): StoreCall<readonly StoreBucket[], void> {
  return {
    send: (batch, deadlineMs) => store.reset(batch, deadlineMs),
    check: () => undefined,
    accept: () => undefined,
    withoutAnswer(_batch, cause) {
      const message =
        'The store did not confirm the reset: all, some or none of the buckets may be full now. ' +
        'Reset them again when the store answers.';
      return Promise.reject(new SluiceError('ERR_STORE_UNAVAILABLE', message, { cause }));
    },
  };
}

/** `renew` or `release`. Without an answer, the leases end: the store frees the slots by itself. */
function leaseCall(name: 'renew' | 'release', { store }: StoreCallParts): StoreCall<readonly StoreHold[], void> {
  return {
    send: (batch, deadlineMs) => store[name]!(batch, deadlineMs),
    check: () => undefined,
    accept: () => undefined,
    withoutAnswer: () => undefined,
  };
}

/** A `check` of an empty batch, to find out whether the store answers. Without an answer, it rejects. */
function trialCall({ store }: StoreCallParts): StoreCall<readonly [], void> {
  return {
    send: (batch, deadlineMs) => store.check(batch, deadlineMs),
    check: checkReading,
    accept: () => undefined,
    withoutAnswer(_batch, cause) {
      const message = `The store is connected, but failed to answer (${reasonOf(cause)}).`;
      return Promise.reject(new SluiceError('ERR_STORE_UNAVAILABLE', message, { cause }));
    },
  };
}
