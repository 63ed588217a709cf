import type { Awaitable } from '../async/awaitable.ts';
import { reasonOf, SluiceError } from '../checks/errors.ts';
import type { Changed, Charge } from '../decision/batch-answer.ts';
import type { DecisionMaker } from '../decision/decide.ts';
import type { Decided } from '../decision/decided.ts';
import { countNamed, type Transaction } from '../decision/transaction.ts';
import { readingsOf } from '../store/alternatives.ts';
import { EMPTY_READING, type Store, type StoreReading, type StoreRefund } from '../store/store.ts';
import type { Alternatives, Fallback } from './fallback.ts';
import { originsOf, type Command } from './store-gate.ts';
import type { StoreHealth } from './store-health.ts';

/** An operation that decides transactions of a limiter. */
export interface Deciding {
  readonly kind: 'spend' | 'check';
  readonly alternatives: Alternatives;
}

/** What a gate makes of the answer of the store to an operation, and of its lack. */
export interface OperationOutcome<Operation, Result> {
  /** @param reading - Valid, see {@link checkReading}. */
  accept(operation: Operation, reading: StoreReading): Result;
  withoutAnswer(operation: Operation, cause: unknown): Awaitable<Result>;
}

/** The parts that the outcomes share. */
export interface OutcomeParts {
  readonly store: Store;
  readonly fallback: Fallback;
  readonly health: StoreHealth;
  /** The gate that makes the calls. */
  readonly owner: object;
  readonly makes: DecisionMaker;
}

/** An operation that changes the buckets of a limiter's entries. */
interface Changing<Kind extends string, Entry> {
  readonly kind: Kind;
  readonly batch: readonly Entry[];
}

/** The outcomes of the operations of one store. */
export class Outcomes {
  /** Decides one batch. Without an answer of the store, the failure policies decide. */
  readonly decision: OperationOutcome<Deciding, Decided>;
  /** Decides alternatives: a decision for each that was tried. */
  readonly decisions: OperationOutcome<Deciding, readonly Decided[]>;
  /** Ends a `charge`. Without an answer, `local` limits are charged in this process; the other charges are lost. */
  readonly charge: OperationOutcome<Changing<'charge', Charge>, Changed<Charge>>;
  /** Ends a `refund`. Without an answer, the tokens stay taken: that is the safe side, and they refill by themselves. */
  readonly refund: OperationOutcome<Changing<'refund', Charge & StoreRefund>, Changed<Charge & StoreRefund>>;
  /** Ends a `check` for levels. Without an answer, it rejects, because a policy knows only a part of a count. */
  readonly levels: OperationOutcome<Deciding, Changed<Transaction>>;
  /** Outcomes of operations that return no reading. */
  readonly commands: Readonly<Record<Command['kind'], OperationOutcome<unknown, void>>> = {
    // The debts may be unchanged.
    cap: { accept: nothing, withoutAnswer: (_, cause) => Promise.reject(cause) },
    // An operator must know that the bucket may be unchanged.
    reset: { accept: nothing, withoutAnswer: (_, cause) => unavailable(RESET, cause) },
    // The slots expire: the store frees them by itself.
    renew: { accept: nothing, withoutAnswer: nothing },
    release: { accept: nothing, withoutAnswer: nothing },
  };
  /** Ends a trial call. Without an answer, it rejects. */
  readonly trial: OperationOutcome<unknown, void> = {
    accept: nothing,
    withoutAnswer: (_, cause) =>
      unavailable(`The store is connected, but failed to answer (${reasonOf(cause)}).`, cause),
  };

  constructor({ store, fallback, health, owner, makes }: OutcomeParts) {
    const origins = originsOf(owner, store);
    const byPolicy = ({ kind, alternatives }: Deciding, cause: unknown): readonly Decided[] => {
      health.decidedByPolicy();
      return fallback.decide(kind, alternatives, cause);
    };
    this.decision = {
      accept: ({ kind, alternatives }, reading) => new makes.Decided(alternatives[0]!, origins[kind], reading),
      withoutAnswer: (operation, cause) => byPolicy(operation, cause)[0]!,
    };
    this.decisions = {
      accept: ({ kind, alternatives }, reading) =>
        readingsOf(alternatives, reading).map((each, i) => new makes.Decided(alternatives[i]!, origins[kind], each)),
      withoutAnswer: byPolicy,
    };
    this.charge = {
      accept: ({ batch }, reading) => ({ batch, reading, store }),
      withoutAnswer({ batch }, cause) {
        const charged = fallback.charge(batch);
        health.lostCharges(countNamed(batch) - countNamed(charged.batch), cause);
        return charged;
      },
    };
    this.refund = {
      accept: ({ batch }, reading) => ({ batch, reading, store }),
      withoutAnswer({ batch }, cause) {
        health.lostRefunds(countNamed(batch), cause);
        return { batch: [], reading: EMPTY_READING, store };
      },
    };
    this.levels = {
      accept: ({ alternatives }, reading) => ({ batch: alternatives[0]!, reading, store }),
      withoutAnswer: (_, cause) =>
        unavailable(
          `The store can't answer (${reasonOf(cause)}), and only it knows the whole count. Try again later.`,
          cause,
        ),
    };
  }
}

const RESET =
  'The store did not confirm the reset: all, some or none of the buckets may be full now. ' +
  'Reset them again when the store answers.';

function nothing(): void {}

function unavailable(message: string, cause: unknown): Promise<never> {
  return Promise.reject(new SluiceError('ERR_STORE_UNAVAILABLE', message, { cause }));
}
