import type { Time } from '@sluice/core';
import { timeOf } from '@sluice/core/kit';
import type { OpenCall } from './open-call.ts';
import { tokensIn } from './prompt-size.ts';
import { hasCounts, type Usage } from './usage.ts';

/** A part of the stream of a language model: what it has depends on its type. */
export interface StreamPart {
  readonly type: string;
  readonly delta?: string;
  readonly input?: unknown;
  readonly usage?: Usage;
}

/** Parts that come before a model has begun to answer, or without it. */
const BEFORE_ANSWER: ReadonlySet<string> = new Set(['stream-start', 'response-metadata', 'raw', 'ping', 'error']);

/** How many times a stream is checked within its idle time. */
const LOOKS = 10;

/** At most this many parts between two checks read the clock. Reading it for every part would double what a part costs. */
const MOST_READINGS = 10;

/**
 * Watches the stream of a call, and settles the call when it ends: by the usage of its last part, or by what has passed. A
 * reader that leaves without a word, as one does that is not aborted in the AI SDK 7, is noticed when no part has passed for
 * a time.
 */
export class StreamWatch {
  readonly #call: OpenCall;
  readonly #time: Time;
  #textLength = 0;
  #reasoningLength = 0;
  /** Inputs of tools pass in pieces, then whole; some models leave out the pieces. */
  #inputPiecesLength = 0;
  #inputsLength = 0;
  #hasAnswered = false;
  #hasFailed = false;
  #isOver = false;
  #usage: Usage | undefined;
  #partsSinceLook = 0;
  #lastPartMicros: number;
  #alarm: ReturnType<Time['alarm']> | undefined;

  constructor(call: OpenCall) {
    this.#call = call;
    this.#time = timeOf(call.budget.limiter);
    this.#lastPartMicros = this.#time.nowMicros();
    this.#watchFor(call.budget.idleMs);
  }

  /** Never throws: the reader gets a part that can't be read as well, and the estimate counts. */
  passed(part: StreamPart): void {
    if (this.#isOver) return;
    try {
      this.#pass(part);
    } catch (cause) {
      this.#end(() => this.#call.lose(cause));
    }
  }

  #pass(part: StreamPart): void {
    if (++this.#partsSinceLook <= MOST_READINGS) this.#lastPartMicros = this.#time.nowMicros();
    if (this.#alarm === undefined) this.#watchFor(this.#call.budget.idleMs);
    if (part.type === 'finish') return this.#finish(part.usage);
    // Where usage comes in pieces, a later one counts, as far as it goes.
    if (part.usage !== undefined) this.#usage = { ...this.#usage, ...part.usage };
    this.#count(part);
  }

  /** The stream has ended, or its reader has left. Usually its last part has had the usage. */
  ended(): void {
    this.#end(() => (this.#hasFailed && !this.#hasAnswered ? this.#call.cancel() : this.#settlePassed()));
  }

  /** The stream is broken. */
  failed(error: unknown): void {
    this.#end(() => (this.#hasAnswered ? this.#settlePassed() : this.#call.fail(error)));
  }

  #finish(usage: Usage | undefined): void {
    if (this.#hasFailed && !hasCounts(usage)) this.ended();
    else this.#end(() => this.#call.finish(usage));
  }

  #end(settle: () => Promise<void>): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#alarm?.cancel();
    void settle();
  }

  #count(part: StreamPart): void {
    const { type, delta } = part;
    if (typeof delta === 'string') {
      if (type === 'reasoning-delta') this.#reasoningLength += delta.length;
      else if (type === 'tool-input-delta') this.#inputPiecesLength += delta.length;
      else this.#textLength += delta.length;
    } else if (type === 'tool-call' && typeof part.input === 'string') this.#inputsLength += part.input.length;
    if (type === 'error') this.#hasFailed = true;
    if (!this.#hasAnswered && !BEFORE_ANSWER.has(type)) this.#hasAnswered = true;
  }

  #settlePassed(): Promise<void> {
    const outputLength = this.#textLength + Math.max(this.#inputPiecesLength, this.#inputsLength);
    const [output, reasoning] = [tokensIn(outputLength), tokensIn(this.#reasoningLength)];
    return this.#call.finish(this.#usage, { ...this.#call.estimate, output, reasoning });
  }

  /** One timer for all parts: it is set anew only when it has run. */
  #watchFor(restMs: number): void {
    this.#alarm = this.#time.alarm(Math.min(restMs, this.#call.budget.idleMs / LOOKS), () => this.#look());
    this.#alarm.unref();
  }

  #look(): void {
    this.#alarm = undefined;
    const nowMicros = this.#time.nowMicros();
    if (this.#partsSinceLook > MOST_READINGS) this.#lastPartMicros = nowMicros;
    this.#partsSinceLook = 0;
    const restMs = this.#call.budget.idleMs - (nowMicros - this.#lastPartMicros) / 1000;
    if (restMs > 0) return this.#watchFor(restMs);
    this.#call.reportIdle();
    void this.#settlePassed();
  }
}
