import type { Awaitable } from '../awaitable.ts';
import { Pending } from './pending.ts';
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
  /** Throws when the answer is nonsense. */
  accept<Batch, Outcome>(wait: StoreWait<Batch, Outcome>, answer: unknown): Outcome;
  /** Throws what is no failure of the store. */
  refuse<Batch, Outcome>(sent: Sent<Batch, Outcome>, error: unknown): Awaitable<Outcome>;
  /** The error of a batch that got no answer in time. */
  whyMissed(): unknown;
}

/** A batch that went to a store that is far away, and the promise of what comes of it. */
export class StoreWait<Batch, Outcome> extends Pending<Outcome> implements Sent<Batch, Outcome> {
  readonly #judge: Judge;
  readonly call: StoreCall<Batch, Outcome>;
  readonly batch: Batch;
  readonly phase: number;

  constructor(judge: Judge, call: StoreCall<Batch, Outcome>, batch: Batch, phase: number) {
    super();
    this.#judge = judge;
    this.call = call;
    this.batch = batch;
    this.phase = phase;
  }

  accept(answer: unknown): void {
    try {
      this.resolve(this.#judge.accept(this, answer));
    } catch (nonsense) {
      this.fail(nonsense);
    }
  }

  fail(error: unknown): void {
    try {
      this.resolve(this.#judge.refuse(this, error));
    } catch (thrown) {
      this.reject(thrown);
    }
  }

  miss(): void {
    this.fail(this.#judge.whyMissed());
  }
}
