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
  readonly #mayWait: (call: StoreCall) => boolean;
  readonly #onMiss: (call: StoreCall) => unknown;
  readonly #onEnd: () => void;
  /** Whether it was sent before and not executed. That happens once at most. */
  isRepeated = false;
  /** Whether it is in a statement that was sent. */
  isSent = false;
  /** When it was made, in microseconds. */
  readonly madeMicros: number;
  dueMicros = 0;
  isIn = false;
  before: Wait | undefined = undefined;
  after: Wait | undefined = undefined;

  /** @throws {SluiceError} `ERR_ID` if an id is not well-formed text. */
  constructor({ operation, deadlineMs, deadlines, sink, mayWait, onMiss, onEnd }: StoreCallParts) {
    this.kind = operation.kind;
    this.batches = 'alternatives' in operation ? operation.alternatives : [operation.batch];
    this.keys = this.batches.flatMap((batch) => batch.map((bucket) => keyOf(bucket as StoreTransaction)));
    this.deadlineMs = deadlineMs;
    this.#deadlines = deadlines;
    this.#sink = sink;
    this.#mayWait = mayWait;
    this.#onMiss = onMiss;
    this.#onEnd = onEnd;
    deadlines.begin(this);
    this.madeMicros = this.dueMicros - deadlineMs * 1000;
  }

  /** Begins its deadline again: it could not be sent before. */
  renew(): void {
    if (this.#deadlines.end(this)) this.#deadlines.begin(this);
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
    if (this.#mayWait(this)) return this.#deadlines.begin(this);
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
  /** Whether it waits for longer than its deadline, because a connection is being made. */
  readonly mayWait: (call: StoreCall) => boolean;
  /** Makes the error of a call whose deadline has passed. */
  readonly onMiss: (call: StoreCall) => unknown;
  /** Called when the call has ended in any way, before its caller. */
  readonly onEnd: () => void;
}
