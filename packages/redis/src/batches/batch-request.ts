import { SluiceError, type StoreReading, type StoreRefund, type StoreTransaction } from '@sluice/core';
import { shownText } from '@sluice/core/kit';

/** The operation on a batch. */
export type AskKind = 'spend' | 'check' | 'charge' | 'refund' | 'reset' | 'cap';

/** One entry of a batch: a transaction, a charge, a refund, a cap or a bucket name, depending on the kind. */
export type AskEntry = Partial<StoreTransaction & StoreRefund>;

/** Observes the outcome of a batch before its promise settles. */
export interface AskListener {
  /** @param sentMicros - When the batch was sent, by the process's own clock. The server read the levels after that. */
  answered(ask: Ask, reading: StoreReading, sentMicros: number): void;
  /** Called if the batch failed. The server may have executed it nevertheless. */
  failed(ask: Ask): void;
}

/** One batch that is sent to Redis, and the promise of its reading. */
export class Ask {
  readonly kind: AskKind;
  readonly batch: readonly AskEntry[];
  /** The keys of the buckets, in the order of the batch. */
  readonly keys: readonly string[];
  readonly deadlineMs: number;
  readonly #listener: AskListener;
  #resolve!: (reading: StoreReading) => void;
  #reject!: (error: unknown) => void;
  readonly reading: Promise<StoreReading> = new Promise((resolve, reject) => {
    this.#resolve = resolve;
    this.#reject = reject;
  });

  constructor(parts: AskParts, listener: AskListener) {
    this.kind = parts.kind;
    this.batch = parts.batch;
    this.keys = parts.keys;
    this.deadlineMs = parts.deadlineMs;
    this.#listener = listener;
  }

  /** @param reading - The reply of the script. If levels are below 0, the batch was not executed. */
  answer(reading: StoreReading, sentMicros: number): void {
    const broken = reading.levelsTicks.indexOf(FOREIGN);
    if (broken >= 0) return this.fail(brokenBucket(this.keys[broken]!));
    this.#listener.answered(this, reading, sentMicros);
    this.#resolve(reading);
  }

  fail(error: unknown): void {
    this.#listener.failed(this);
    this.#reject(error);
  }
}

export type AskParts = Pick<Ask, 'kind' | 'batch' | 'keys' | 'deadlineMs'>;

const FOREIGN = -1;

function brokenBucket(key: string): SluiceError {
  return new SluiceError(
    'ERR_STORE_BUCKET',
    `The Redis key '${shownText(key, 400)}' does not contain a bucket: another program writes keys with this prefix. ` +
      `Give the store a \`prefix\` of its own, or stop the other program. Then reset the bucket or delete the key.`,
  );
}
