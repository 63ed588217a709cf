import { SluiceError } from '@sluice/core';
import { ServerClock, shownText, type AnswerSink, type ServerEntry } from '@sluice/core/kit';
import { decidedReading, type StoreOperation, type StoreReading, type StoreTransaction } from '@sluice/core/store';

/** The operation on a batch. */
export type BatchKind = StoreOperation['kind'];

/** Observes the outcome of a batch before its caller. */
export interface BatchObserver {
  /**
   * @param reading - Of alternatives, that of those that were tried.
   * @param sentMicros - When the batch was sent, by the process's own clock. The server read the levels after that.
   */
  onAnswer(request: BatchRequest, reading: StoreReading, sentMicros: number): void;
  /** Called if the batch failed. The server may have executed it nevertheless. */
  onFailure(request: BatchRequest): void;
}

/** One batch that is sent to Redis, until its reading comes. */
export class BatchRequest {
  readonly kind: BatchKind;
  readonly batch: readonly ServerEntry[];
  /** The keys of the buckets, in the order of the batch. */
  readonly keys: readonly string[];
  /** For a `spend` or a `check` of several batches: these batches. `batch` and `keys` are then those of all. */
  readonly alternatives: readonly BatchRequestParts[] | undefined;
  readonly deadlineMs: number;
  readonly #observer: BatchObserver;
  readonly #sink: AnswerSink;

  constructor(parts: BatchRequestParts, observer: BatchObserver, sink: AnswerSink) {
    this.kind = parts.kind;
    this.batch = parts.batch;
    this.keys = parts.keys;
    this.alternatives = parts.alternatives;
    this.deadlineMs = parts.deadlineMs;
    this.#observer = observer;
    this.#sink = sink;
  }

  /** @param reading - The reply of the script. Levels below 0 are of a batch that was not executed. */
  answer(reading: StoreReading, sentMicros: number): void {
    const broken = reading.levelsTicks.indexOf(FOREIGN);
    if (broken >= 0) return this.fail(brokenBucketError(this.keys[broken]!, reading.nowTicks));
    const answer = this.kind === 'spend' || this.kind === 'check' ? decidedReading(batchesOf(this), reading) : reading;
    this.#observer.onAnswer(this, answer, sentMicros);
    this.#sink.answered(answer);
  }

  fail(error: unknown): void {
    this.#observer.onFailure(this);
    this.#sink.failed(error);
  }
}

/** Returns the batches of a `spend` or a `check`. */
export function batchesOf({ batch, alternatives }: BatchRequestParts): readonly (readonly StoreTransaction[])[] {
  return (alternatives?.map((each) => each.batch) ?? [batch]) as readonly (readonly StoreTransaction[])[];
}

/** Returns a promise of what `send` gives to its sink. */
export function readingOf(send: (sink: AnswerSink) => void): Promise<StoreReading> {
  return new Promise((resolve, reject) => send({ answered: resolve, failed: reject }));
}

export type BatchRequestParts = Pick<BatchRequest, 'kind' | 'batch' | 'keys' | 'deadlineMs'> &
  Partial<Pick<BatchRequest, 'alternatives'>>;

const FOREIGN = -1;

function brokenBucketError(key: string, nowTicks: number): SluiceError {
  const late = ServerClock.lateReason(nowTicks);
  if (late !== undefined) {
    const message = `The Redis key '${shownText(key, 400)}' does not contain a bucket of this version. ${late}; otherwise shorten the limit.`;
    return new SluiceError('ERR_STORE_BUCKET', message);
  }
  return new SluiceError(
    'ERR_STORE_BUCKET',
    `The Redis key '${shownText(key, 400)}' does not contain a bucket: another program writes keys with this prefix. ` +
      `Give the store a \`prefix\` of its own, or stop the other program. Then reset the bucket or delete the key.`,
  );
}
