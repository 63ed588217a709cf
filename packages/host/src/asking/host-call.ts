import type { AnswerSink, Deadlines, Wait } from '@sluice/core/kit';
import type { HostReading } from '../wire/answer-codec.ts';
import type { Hello } from '../wire/hello.ts';
import type { HostOperation } from '../wire/operation-codec.ts';

/** An operation that another process executes, until its answer comes or its deadline has passed. */
export class HostCall implements Wait {
  readonly operation: HostOperation;
  readonly deadlineMs: number;
  readonly #deadlines: Deadlines;
  readonly #sink: AnswerSink;
  readonly #onMiss: (call: HostCall) => unknown;
  /** The server to which it was sent, if it was, and the buckets. */
  sentTo: Hello | undefined = undefined;
  dueMicros = 0;
  /** Whether it still waits. */
  isIn = false;
  before: Wait | undefined = undefined;
  after: Wait | undefined = undefined;

  constructor({ operation, deadlineMs, deadlines, sink, onMiss }: HostCallParts) {
    this.operation = operation;
    this.deadlineMs = deadlineMs;
    this.#deadlines = deadlines;
    this.#sink = sink;
    this.#onMiss = onMiss;
    deadlines.begin(this);
  }

  answer(reading: HostReading): void {
    if (this.#deadlines.end(this)) this.#sink.answered(reading);
  }

  fail(error: unknown): void {
    if (this.#deadlines.end(this)) this.#sink.failed(error);
  }

  miss(): void {
    this.#sink.failed(this.#onMiss(this));
  }

  /** Notes that the server has found the deadline passed. */
  expire(): void {
    if (this.#deadlines.end(this)) this.miss();
  }
}

export interface HostCallParts {
  readonly operation: HostOperation;
  readonly deadlineMs: number;
  readonly deadlines: Deadlines;
  readonly sink: AnswerSink;
  /** Makes the error of a call whose deadline has passed. */
  readonly onMiss: (call: HostCall) => unknown;
}
