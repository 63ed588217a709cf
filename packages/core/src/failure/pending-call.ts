import type { Awaitable } from '../async/awaitable.ts';
import type { StoreReading } from '../store/store.ts';
import { Pending } from '../time/deadline-promise.ts';
import type { StoreCall } from './store-calls.ts';

/** A batch that went to the store. */
export interface Sent<Batch, Outcome> {
  readonly call: StoreCall<Batch, Outcome>;
  readonly batch: Batch;
  /** The breaker's phase at that moment. */
  readonly phase: number;
}

/** Says what comes of a batch that went to the store. */
export interface Judge {
  /** Notes an answer. Throws when it is nonsense. */
  hear<Batch, Outcome>(sent: Sent<Batch, Outcome>, answer: unknown): void;
  /** Gives the outcome of an answer that was heard. */
  accept<Batch, Outcome>(sent: Sent<Batch, Outcome>, reading: StoreReading): Awaitable<Outcome>;
  /** Throws what is no failure of the store. */
  refuse<Batch, Outcome>(sent: Sent<Batch, Outcome>, error: unknown): Awaitable<Outcome>;
  /** The error of a batch that got no answer in time. */
  whyMissed(): unknown;
}

/** The promise of what comes of a batch that went to a store that is far away. */
export class StoreWait<Batch, Outcome> extends Pending<Outcome> {
  readonly #judge: Judge;
  readonly #sent: Sent<Batch, Outcome>;

  constructor(judge: Judge, sent: Sent<Batch, Outcome>) {
    super();
    this.#judge = judge;
    this.#sent = sent;
  }

  accept(answer: unknown): void {
    try {
      this.#judge.hear(this.#sent, answer);
    } catch (nonsense) {
      return this.fail(nonsense);
    }
    try {
      this.resolve(this.#judge.accept(this.#sent, answer as StoreReading));
    } catch (thrown) {
      this.reject(thrown);
    }
  }

  fail(error: unknown): void {
    try {
      this.resolve(this.#judge.refuse(this.#sent, error));
    } catch (thrown) {
      this.reject(thrown);
    }
  }

  miss(): void {
    this.fail(this.#judge.whyMissed());
  }
}
