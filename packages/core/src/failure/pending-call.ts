import type { Awaitable } from '../async/awaitable.ts';
import type { StoreReading, StoreOperation } from '../store/store.ts';
import { DeadlinePromise, type Wait } from '../time/deadline-queue.ts';
import type { OperationOutcome } from './outcomes.ts';
import type { AnswerSink } from './run-into.ts';

/** An operation that was sent to the store. */
export interface SentOperation<Result> {
  readonly operation: StoreOperation;
  readonly outcome: OperationOutcome<never, Result>;
  /** The breaker's phase when it was sent. */
  readonly phase: number;
}

/** Turns the answers and failures of sent operations into outcomes. */
export interface StoreCallTracker {
  /** Validates and records an answer. Throws when it is invalid. */
  noteAnswer(sent: SentOperation<unknown>, answer: unknown): void;
  /** Returns the outcome for an answer that `noteAnswer` accepted. */
  accept<Result>(sent: SentOperation<Result>, reading: StoreReading): Awaitable<Result>;
  /** Returns the outcome for a failure. Throws an error that is not a failure of the store. */
  withoutAnswer<Result>(sent: SentOperation<Result>, error: unknown): Awaitable<Result>;
  /** Creates the error for an operation without an answer in time. */
  missedError(): unknown;
  /** Ends the wait of an operation. Returns false if it has already missed its deadline. */
  end(wait: Wait): boolean;
}

/** The pending outcome of an operation that was sent to a remote store. */
export class PendingCall<Result> extends DeadlinePromise<Result> implements AnswerSink {
  readonly #tracker: StoreCallTracker;
  readonly #sent: SentOperation<Result>;

  constructor(tracker: StoreCallTracker, sent: SentOperation<Result>) {
    super();
    this.#tracker = tracker;
    this.#sent = sent;
  }

  answered(reading: StoreReading): void {
    if (this.#tracker.end(this)) this.accept(reading);
  }

  failed(error: unknown): void {
    if (this.#tracker.end(this)) this.fail(error);
  }

  accept(answer: unknown): void {
    try {
      this.#tracker.noteAnswer(this.#sent, answer);
    } catch (nonsense) {
      return this.fail(nonsense);
    }
    try {
      this.resolve(this.#tracker.accept(this.#sent, answer as StoreReading));
    } catch (thrown) {
      this.reject(thrown);
    }
  }

  fail(error: unknown): void {
    try {
      this.resolve(this.#tracker.withoutAnswer(this.#sent, error));
    } catch (thrown) {
      this.reject(thrown);
    }
  }

  miss(): void {
    this.fail(this.#tracker.missedError());
  }
}
