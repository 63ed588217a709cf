import type { Awaitable } from '../async/awaitable.ts';
import type { StoreReading } from '../store/store.ts';
import { DeadlinePromise, type Wait } from '../time/deadline-queue.ts';
import type { AnswerSink } from './spend-into.ts';
import type { StoreCall } from './store-calls.ts';

/** A batch that was sent to the store. */
export interface SentBatch<Batch, Outcome> {
  readonly call: StoreCall<Batch, Outcome>;
  readonly batch: Batch;
  /** The breaker's phase when it was sent. */
  readonly phase: number;
}

/** Turns the answers and failures of sent batches into outcomes. */
export interface StoreCallTracker {
  /** Validates and records an answer. Throws when it is invalid. */
  noteAnswer<Batch, Outcome>(sent: SentBatch<Batch, Outcome>, answer: unknown): void;
  /** Returns the outcome for an answer that `noteAnswer` accepted. */
  accept<Batch, Outcome>(sent: SentBatch<Batch, Outcome>, reading: StoreReading): Awaitable<Outcome>;
  /** Returns the outcome for a failure. Throws an error that is not a failure of the store. */
  withoutAnswer<Batch, Outcome>(sent: SentBatch<Batch, Outcome>, error: unknown): Awaitable<Outcome>;
  /** Creates the error for a batch without an answer in time. */
  missedError(): unknown;
  /** Ends the wait of a batch. Returns false if it has already missed its deadline. */
  end(wait: Wait): boolean;
}

/** The pending outcome of a batch that was sent to a remote store. */
export class PendingCall<Batch, Outcome> extends DeadlinePromise<Outcome> implements AnswerSink {
  readonly #tracker: StoreCallTracker;
  readonly #sent: SentBatch<Batch, Outcome>;

  constructor(tracker: StoreCallTracker, sent: SentBatch<Batch, Outcome>) {
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
