import type { AnswerSink, Deadlines, ServerEntry, Wait } from '@sluice/core/kit';
import type { StoreOperation, StoreReading, StoreTransaction } from '@sluice/core/store';
import { keyOf } from './bucket-keys.ts';
import type { Outcomes } from './outcomes.ts';

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
  readonly #outcomes: Outcomes;
  readonly #mayWait: (call: StoreCall) => boolean;
  readonly #onMiss: (call: StoreCall) => MakeError;
  readonly #onEnd: () => void;
  /** Whether it was sent before and not executed. That happens once at most. */
  isRepeated = false;
  /** When the statement was sent that it is in, in microseconds; undefined while it waits for the next one. */
  sentMicros: number | undefined = undefined;
  /** When it was made, in microseconds. */
  readonly madeMicros: number;
  dueMicros = 0;
  isIn = false;
  before: Wait | undefined = undefined;
  after: Wait | undefined = undefined;

  /** @throws {SluiceError} `ERR_ID` if an id is not well-formed text. */
  constructor({ operation, deadlineMs, deadlines, sink, outcomes, mayWait, onMiss, onEnd }: StoreCallParts) {
    this.kind = operation.kind;
    this.batches = 'alternatives' in operation ? operation.alternatives : [operation.batch];
    this.keys = this.batches.flatMap((batch) => batch.map((bucket) => keyOf(bucket as StoreTransaction)));
    this.deadlineMs = deadlineMs;
    this.#deadlines = deadlines;
    this.#sink = sink;
    this.#outcomes = outcomes;
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
    this.#outcomes.addAnswer(() => {
      this.#onEnd();
      this.#sink.answered(reading);
    });
  }

  fail(error: unknown): void {
    this.failWith(() => error);
  }

  /** Fails with an error that is made when its caller is called back: there may be thousands. */
  failWith(makeError: MakeError): void {
    if (this.#deadlines.end(this)) this.#addFailure(makeError);
  }

  miss(): void {
    if (this.#mayWait(this)) return this.#deadlines.begin(this);
    this.#addFailure(this.#onMiss(this));
  }

  /** Misses the deadline before its time. */
  expire(): void {
    if (this.#deadlines.end(this)) this.miss();
  }

  #addFailure(makeError: MakeError): void {
    this.#outcomes.addFailure(() => {
      this.#onEnd();
      this.#sink.failed(makeError());
    });
  }
}

/** Makes the error with which a call fails. */
export type MakeError = () => unknown;

export interface StoreCallParts {
  readonly operation: StoreOperation;
  readonly deadlineMs: number;
  readonly deadlines: Deadlines;
  readonly sink: AnswerSink;
  readonly outcomes: Outcomes;
  /** Whether it waits for longer than its deadline, because a connection is being made. */
  readonly mayWait: (call: StoreCall) => boolean;
  /** Called when the deadline of a call has passed. */
  readonly onMiss: (call: StoreCall) => MakeError;
  /** Called when the call has ended in any way, before its caller. */
  readonly onEnd: () => void;
}
