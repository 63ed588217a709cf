// The room failure: a store that can fail: deadline, breaker, failure policies, the local store.
import { toNativePromise, andThen, callAndForget, type Awaitable } from '../async/awaitable.ts';
import type { DecisionMaker } from '../decision/decide.ts';
import type { Decided } from '../decision/decided.ts';
import { isInstance, SluiceError } from '../checks/errors.ts';
import type { EventSink } from '../events/event.ts';
import { isStalePeriod } from '../store/calendar-period.ts';
import {
  EMPTY_READING,
  type Store,
  type StoreReading,
  type StoreRefund,
  type StoreReport,
  type DecidingOperation,
  type StoreOperation,
} from '../store/store.ts';
import type { Transaction } from '../decision/transaction.ts';
import { checkReading } from './reading.ts';
import { CallDeadlines } from '../time/call-deadlines.ts';
import { Deadlines } from '../time/deadlines.ts';
import type { Wait } from '../time/deadline-queue.ts';
import type { CheckedFailureOptions } from '../limits/failure-options.ts';
import { Fallback, type Alternatives } from './fallback.ts';
import { LoopYield } from './loop-yield.ts';
import { closed, type Command, type StoreGate } from './store-gate.ts';
import { isExact } from '../limits/treatment.ts';
import { checkReadyOptions, type ReadyOptions } from '../store/ready-options.ts';
import { ReadyWaits } from './ready-waits.ts';
import type { Changed, Charge } from '../decision/batch-answer.ts';
import { HERE, VERSION, type Copy } from '../runtime/copy.ts';
import type { StoreCalls } from '../store/store-calls.ts';
import { Outcomes, type OperationOutcome } from './outcomes.ts';
import { runIntoOf } from './run-into.ts';
import { StoreHealth, type StoreStatus } from './store-health.ts';
import { PendingCall, type SentOperation, type StoreCallTracker } from './pending-call.ts';

/** The parts of a guard. */
export interface StoreGuardParts {
  readonly store: Store;
  readonly failure: CheckedFailureOptions;
  readonly emit: EventSink;
  /** How stores are called. Its time is that of deadlines, outages and local buckets. */
  readonly calls: StoreCalls;
  /** As in the parts of a {@link Fallback}. */
  readonly localStore?: (tokens: Store) => Store;
  readonly makes: DecisionMaker;
}

/** What a limiter reads of {@link storeGuard}. An object, because a wrapper of a store may bind its functions. */
export interface GuardOfStore extends Copy {
  readonly make: (parts: StoreGuardParts) => StoreGate;
}

/**
 * The gate to a store that can fail. It always answers: with the store's answer, or within the deadline by the limits'
 * failure policies.
 *
 * If the store answers synchronously, the guard adds no timer and no tick. Wrong use (`ERR_CLOSED`,
 * `ERR_DUPLICATE_BUCKET`, every SluiceError that is not of kind `store`) is thrown to the caller and does not count as
 * a failure. So is a {@link StalePeriodError} of the last repeat of a call: it is an answer of the store, see
 * {@link StoreCalls}.
 */
export class StoreGuard implements StoreGate, StoreCallTracker {
  readonly #store: Store;
  readonly #deadlineMs: number;
  readonly #deadlines: Deadlines;
  readonly #health: StoreHealth;
  readonly #fallback: Fallback;
  readonly #outcomes: Outcomes;
  readonly #readyWaits: ReadyWaits;
  readonly #loopYield: LoopYield;
  readonly #calls: StoreCalls;
  readonly #callers: CallDeadlines;
  /** Whether the store has ever returned a promise. */
  #isAsync = false;
  #closed = false;

  constructor({ store, failure, emit, calls, localStore, makes }: StoreGuardParts) {
    const { deadlineMs, gateways } = failure;
    const { time } = calls;
    this.#calls = calls;
    this.#callers = new CallDeadlines(time);
    this.#store = store;
    this.#deadlineMs = deadlineMs;
    // A store that keeps the deadline itself is only followed, so that `close` can still answer waiting calls.
    this.#deadlines = new Deadlines(store.traits?.keepsDeadline === true ? Infinity : deadlineMs, time);
    this.#loopYield = new LoopYield(time);
    const health = (this.#health = new StoreHealth({ store, deadlineMs, time, emit }));
    const fallback = (this.#fallback = new Fallback({
      guarded: store,
      gateways,
      emit,
      owner: this,
      calls,
      localStore,
      makes,
    }));
    this.#outcomes = new Outcomes({ store, fallback, health, owner: this, makes });
    this.#readyWaits = new ReadyWaits(store, time);
  }

  /** Decides a batch, and takes its tokens if the call is `spend`. */
  decide(kind: 'spend' | 'check', batch: readonly Transaction[]): Awaitable<Decided> {
    return this.#run({ kind, alternatives: [batch] }, this.#outcomes.decision);
  }

  /** Decides batches in order until one passes. */
  decideFirst(kind: 'spend' | 'check', alternatives: Alternatives): Awaitable<readonly Decided[]> {
    return this.#run({ kind, alternatives }, this.#outcomes.decisions);
  }

  /**
   * Takes tokens after the fact. When the store can't answer, the charges of `local` limits are taken in this process,
   * and the others are lost, with an event `charge-lost`.
   */
  charge<T extends Charge>(batch: readonly T[]): Awaitable<Changed<T>> {
    return this.#run({ kind: 'charge', batch }, this.#outcomes.charge) as Awaitable<Changed<T>>;
  }

  /**
   * Gives tokens back. When the store can't answer, they stay taken, with an event `refund-lost`.
   *
   * @param store - The store that took them: that of the decision, or the guarded one.
   */
  refund<T extends Charge & StoreRefund>(store: Store, batch: readonly T[]): Awaitable<Changed<T>> {
    const operation = { kind: 'refund', batch } as const;
    if (store === this.#store) return this.#run(operation, this.#outcomes.refund) as Awaitable<Changed<T>>;
    this.assertOpen();
    return andThen(this.#calls.runOther(store, operation), (reading) => ({ batch, reading, store }));
  }

  /** Reads the levels of buckets. Rejects with `ERR_STORE_UNAVAILABLE` when the store can't answer. */
  read(batch: readonly Transaction[]): Awaitable<Changed<Transaction>> {
    return this.#run({ kind: 'check', alternatives: [batch] }, this.#outcomes.levels);
  }

  /** Executes an operation without an answer. A `reset` fills local buckets in any case. */
  run(operation: Command): Awaitable<void> {
    this.assertOpen();
    if (operation.kind === 'reset') this.#fallback.reset(operation.batch);
    return this.#run(operation, this.#outcomes.commands[operation.kind]);
  }

  /** An answer takes at most the deadline of the store: a caller that waits longer needs no timer. */
  within<T>(answer: Promise<T>, leftMs: number, late: () => T): Promise<T> {
    if (leftMs >= this.#deadlineMs) return answer;
    return this.#callers
      .of(leftMs)
      .race(answer, () => LATE)
      .catch((error: unknown) => {
        if (error !== LATE) throw error;
        return late();
      });
  }

  /**
   * Resolves when the store is ready; at once when it has no `ready` method. If the store is failing, the guard also
   * makes a trial call: an answer ends the outage, so that the store decides the next calls and not the policies.
   *
   * @throws {SluiceError} Rejects with `ERR_STORE_UNAVAILABLE`, or with `ERR_CLOSED` when the guard is closed
   * meanwhile.
   */
  async ready(options?: ReadyOptions): Promise<void> {
    this.assertOpen();
    const { timeoutMs } = checkReadyOptions(options);
    await this.#readyWaits.wait(timeoutMs);
    if (this.#health.isFailing) await this.#ask(TRIAL, this.#outcomes.trial);
  }

  /**
   * Takes note of a report of the store about itself. `down` begins an outage, and the policies decide at once. After
   * `up`, the guard makes a trial call, so that an outage also ends without requests; the next call also goes to the
   * store.
   */
  noteReport(report: StoreReport): void {
    if (report.type === 'down') this.#health.reportedDown(report.cause);
    if (report.type !== 'up' || !this.#health.isFailing) return;
    this.#health.reportedUp();
    this.#try();
  }

  /** Reports the state of the store. */
  status(): StoreStatus {
    return this.#health.status();
  }

  /**
   * Closes the guard, not the store. Calls that wait for the store are answered by the policies now, and no timer is
   * left. Later calls throw `ERR_CLOSED`; a repeated `close` does nothing.
   */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#callers.expireAll();
    this.#deadlines.expireAll();
    this.#readyWaits.end();
    this.#health.flush();
  }

  #run<Operation extends StoreOperation, Result>(
    operation: Operation,
    outcome: OperationOutcome<Operation, Result>,
  ): Awaitable<Result> {
    if (this.#closed) throw closed();
    if (isEmpty(operation)) return outcome.accept(operation, EMPTY_READING);
    if (this.#health.isFailing) {
      const isProbe = this.#health.admits();
      if (this.#isLeased(operation, outcome)) {
        // The store decides this batch without its servers, so it is no probe: without a trial, no outage would end.
        if (isProbe) this.#try();
      } else if (!isProbe) return this.#byPolicy({ operation, outcome }, this.#health.lastCause);
    }
    return this.#ask(operation, outcome);
  }

  /** Asks the store whether it answers, without a request. */
  #try(): void {
    callAndForget(() => this.#ask(TRIAL, this.#outcomes.trial), ignore);
  }

  /** Whether the store decides a batch in this process, even while its servers can't be reached. */
  #isLeased(operation: StoreOperation, outcome: unknown): boolean {
    if (this.#store.traits?.leases !== true || outcome !== this.#outcomes.decision) return false;
    const { alternatives } = operation as DecidingOperation;
    return alternatives[0]!.every(({ treatment }) => !isExact(treatment));
  }

  #ask<Operation extends StoreOperation, Result>(
    operation: Operation,
    outcome: OperationOutcome<Operation, Result>,
  ): Awaitable<Result> {
    const sent = { operation, outcome, phase: this.#health.phase };
    const into = this.#calls.periods === undefined ? runIntoOf(this.#store) : undefined;
    if (into !== undefined) {
      const pending = new PendingCall(this, sent);
      this.#isAsync = true;
      this.#deadlines.begin(pending);
      into(this.#store, operation, this.#deadlineMs, pending);
      return pending.outcome;
    }
    let answer: unknown;
    try {
      answer = toNativePromise(this.#calls.run(this.#store, operation, this.#deadlineMs));
      if (answer instanceof Promise) {
        this.#isAsync = true;
        return this.#deadlines.follow(answer, new PendingCall(this, sent));
      }
      this.noteAnswer(sent, answer);
    } catch (error) {
      return this.withoutAnswer(sent, error);
    }
    // An error from here on is not a failure of the store.
    return outcome.accept(operation, answer as StoreReading);
  }

  /** Ends the wait of an operation, see {@link StoreCallTracker}. */
  end(wait: Wait): boolean {
    return this.#deadlines.end(wait);
  }

  /** Creates the error for an operation without an answer in time. */
  missedError(): unknown {
    return this.#closed ? closedWhileWaiting() : missed(this.#deadlineMs);
  }

  /** Validates and records an answer. Throws when it is invalid. */
  noteAnswer({ operation, outcome }: SentOperation<unknown>, answer: unknown): void {
    checkReading(operation, answer);
    if (answer.remembered !== true) return this.#health.answered();
    this.#health.remembered();
    if (this.#health.isFailing && !this.#isLeased(operation, outcome)) this.#health.probeWasRemembered();
  }

  /** Returns the outcome for an answer. A remembered one needs no I/O, like those of the policies: see {@link LoopYield}. */
  accept<Result>({ operation, outcome }: SentOperation<Result>, reading: StoreReading): Awaitable<Result> {
    const pause = reading.remembered === true ? this.#loopYield.due() : undefined;
    if (pause === undefined) return outcome.accept(operation as never, reading);
    return pause.then(() => outcome.accept(operation as never, reading));
  }

  /** Returns the outcome for a failure. Throws an error that is not a failure of the store. */
  withoutAnswer<Result>(sent: SentOperation<Result>, error: unknown): Awaitable<Result> {
    if (isWrongUse(error)) throw error;
    if (isStalePeriod(error)) {
      this.#health.answered();
      throw error;
    }
    // After `close`, the guard stopped waiting, which is not a failure of the store.
    if (!this.#closed) this.#health.failed(error, sent.phase);
    return this.#byPolicy(sent, error);
  }

  // For a synchronous store, the answers of policies must be values too.
  #byPolicy<Result>({ operation, outcome }: Omit<SentOperation<Result>, 'phase'>, cause: unknown): Awaitable<Result> {
    const pause = this.#isAsync ? this.#loopYield.due() : undefined;
    if (pause === undefined) return outcome.withoutAnswer(operation as never, cause);
    return pause.then(() => outcome.withoutAnswer(operation as never, cause));
  }

  /** Throws `ERR_CLOSED` after {@link close}. */
  assertOpen(): void {
    if (this.#closed) throw closed();
  }
}

/**
 * The gate to a store that may take time or fail: the property `guard` of a store without the trait `answersAtOnce`. It brings
 * the deadline, the breaker, the failure policies and the status of the store, so that a program whose store answers at once
 * does not load them.
 */
export const storeGuard: object = Object.freeze({
  make: (parts: StoreGuardParts): StoreGate => new StoreGuard(parts),
  version: VERSION,
  place: HERE,
} satisfies GuardOfStore);

/** What a caller with a deadline of its own has missed. */
const LATE = Symbol('late');

/** A `check` of no bucket, to find out whether the store answers. */
const TRIAL: StoreOperation = { kind: 'check', alternatives: [[]] };

/** Whether an operation is done without the store. A first alternative without transactions passes. */
function isEmpty(operation: StoreOperation): boolean {
  return ('alternatives' in operation ? operation.alternatives[0]! : operation.batch).length === 0;
}

function ignore(): void {}

function isWrongUse(error: unknown): boolean {
  return isInstance(error, SluiceError) && error.kind !== 'store';
}

function missed(deadlineMs: number): SluiceError {
  return new SluiceError(
    'ERR_STORE_DEADLINE',
    `The store did not answer within ${deadlineMs} ms (failure.deadlineMs).`,
  );
}

function closedWhileWaiting(): SluiceError {
  return new SluiceError('ERR_STORE_UNAVAILABLE', 'The limiter was closed before the store had answered.');
}
