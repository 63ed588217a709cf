import type { StoreOperation, StoreReading, StoreTransaction } from '@sluice/core';
import type { AnswerSink, Deadlines, ServerEntry, Wait } from '@sluice/core/kit';
import { keyOf } from './bucket-keys.ts';

/** The kind of an operation. */
export type CallKind = StoreOperation['kind'];

/** An operation on buckets, until its answer comes or its deadline has passed. */
export class StoreCall implements Wait {
  readonly kind: CallKind;
  /** Its batch, or its alternatives. */
  readonly batches: readonly (readonly ServerEntry[])[];
  /** The keys of the buckets, batch after batch. */
  readonly keys: readonly string[];
  readonly deadlineMs: number;
  readonly #deadlines: Deadlines;
  readonly #sink: AnswerSink;
  readonly #onMiss: (call: StoreCall) => unknown;
  readonly #onEnd: () => void;
  /** Whether it was sent before and not executed. That happens once at most. */
  isRepeated = false;
  dueMicros = 0;
  isIn = false;
  before: Wait | undefined = undefined;
  after: Wait | undefined = undefined;

  /** @throws {SluiceError} `ERR_ID` if an id is not well-formed text. */
  constructor({ operation, deadlineMs, deadlines, sink, onMiss, onEnd }: StoreCallParts) {
    this.kind = operation.kind;
    this.batches = 'alternatives' in operation ? operation.alternatives : [operation.batch];
    this.keys = this.batches.flatMap((batch) => batch.map((bucket) => keyOf(bucket as StoreTransaction)));
    this.deadlineMs = deadlineMs;
    this.#deadlines = deadlines;
    this.#sink = sink;
    this.#onMiss = onMiss;
    this.#onEnd = onEnd;
    deadlines.begin(this);
  }

  answer(reading: StoreReading): void {
    if (!this.#deadlines.end(this)) return;
    this.#onEnd();
    this.#sink.answered(reading);
  }

  fail(error: unknown): void {
    if (!this.#deadlines.end(this)) return;
    this.#onEnd();
    this.#sink.failed(error);
  }

  miss(): void {
    this.#onEnd();
    this.#sink.failed(this.#onMiss(this));
  }

  /** Misses the deadline before its time. */
  expire(): void {
    if (this.#deadlines.end(this)) this.miss();
  }
}

export interface StoreCallParts {
  readonly operation: StoreOperation;
  readonly deadlineMs: number;
  readonly deadlines: Deadlines;
  readonly sink: AnswerSink;
  /** Makes the error of a call whose deadline has passed. */
  readonly onMiss: (call: StoreCall) => unknown;
  /** Called when the call has ended in any way, before its caller. */
  readonly onEnd: () => void;
}
