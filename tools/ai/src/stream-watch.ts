import type { Time } from '@sluice/core';
import { timeOf } from '@sluice/core/kit';
import type { OpenCall } from './open-call.ts';
import { tokensIn } from './prompt-size.ts';
import { hasCounts, mergedUsage, type Usage } from './usage.ts';
import type { Tokens } from './weights.ts';

/** A part of the stream of a language model: what it has depends on its type. */
export interface StreamPart {
  readonly type: string;
  readonly delta?: string;
  readonly input?: unknown;
  readonly usage?: Usage;
}

/** The result of reading a stream. */
export interface Read {
  readonly done?: boolean | undefined;
  readonly value?: unknown;
}

/** A stream that is read through its watch. */
export interface Source {
  read(): Promise<Read>;
  /** The parts of what was read, in the types that a watch knows; `undefined` where that is one. */
  readonly partsOf?: ((value: unknown) => readonly StreamPart[]) | undefined;
  /** Hands what was read to the reader. */
  deliver?(read: Read): void;
  /** Whether it has ended because it was aborted. Streams of the AI SDK break then. */
  isCut?(): boolean;
  /** Stops the provider. */
  stop(reason: unknown): unknown;
}

/** Parts that come before a model has begun to answer, or without it. */
const BEFORE_ANSWER: ReadonlySet<string> = new Set(['stream-start', 'response-metadata', 'raw', 'ping', 'error']);

/** The end of a stream, for a result of an iterator that is none. */
const ENDED: Read = { done: true };

/** How many times a stream is checked within its idle time. */
const LOOKS = 10;

/** At most this many parts between two checks read the clock. Reading it for every part would double what a part costs. */
const MOST_READINGS = 10;

/**
 * Watches the stream of a call, and settles the call when it ends: by its usage, or by the text that has passed when it has
 * passed as a whole. A stream that is cut short keeps the estimate, because nobody knows its bill. A reader that leaves without
 * a word, as one does that is not aborted in the AI SDK 7, is noticed when nothing has been read for a time.
 */
export class StreamWatch {
  readonly #call: OpenCall;
  readonly #source: Source | undefined;
  readonly #time: Time;
  #textLength = 0;
  #reasoningLength = 0;
  /** Inputs of tools pass in pieces, then whole; some models leave out the pieces. */
  #inputPiecesLength = 0;
  #inputsLength = 0;
  #hasFiles = false;
  #hasAnswered = false;
  #hasFailed = false;
  #isOver = false;
  /** Whether the reader waits for the provider. */
  #isAwaited = false;
  #isDrained = false;
  /** The error of a reader that comes back to a stream that it has abandoned. */
  #lost: Error | undefined;
  #usage: Usage | undefined;
  /** Whether the usage has the whole answer until now: some providers send it with each part, Anthropic the prompt's first. */
  #isBilled = false;
  #partsSinceLook = 0;
  #lastPartMicros: number;
  #alarm: ReturnType<Time['alarm']> | undefined;

  /** @param source - The stream; `undefined` for one that reads itself to its end. */
  constructor(call: OpenCall, source?: Source) {
    this.#call = call;
    this.#source = source;
    this.#isAwaited = source === undefined;
    this.#time = timeOf(call.budget.limiter);
    this.#lastPartMicros = this.#time.nowMicros();
    this.#watchFor(call.budget.idleMs);
  }

  /** Reads the source for its reader. */
  read(): Promise<Read> {
    if (this.#lost !== undefined) return Promise.reject(this.#lost);
    this.#isAwaited = true;
    return this.#next();
  }

  /** Never throws: the reader gets a part that can't be read as well, and the estimate counts. */
  passed(part: StreamPart): void {
    if (this.#isOver) return;
    try {
      this.#pass(part);
    } catch (cause) {
      this.#over(() => this.#call.lose(cause));
    }
  }

  /** The stream has ended. Usually its last part has had the usage. */
  ended(): void {
    if (this.#source?.isCut?.() === true) this.cut();
    else this.#end(this.#passedTokens());
  }

  /** The stream is broken. */
  failed(error: unknown): void {
    this.#hasFailed ||= !this.#call.isAbort(error);
    this.cut();
  }

  /** The stream has ended before its provider had. */
  cut(): void {
    // An abandoned one was reported already.
    this.#end(this.#lost === undefined ? undefined : this.#call.estimate, this.#bill);
  }

  /** The reader has left. */
  async left(reason: unknown): Promise<void> {
    if (!this.#isOver && !this.#isBilled && this.#call.budget.onAbandoned === 'drain') return void this.#drain();
    // A part that has been read already passes first.
    queueMicrotask(() => this.cut());
    await this.#stop(reason);
  }

  readonly #received = (read: Read): Read => {
    this.#isAwaited = false;
    const { done, value } = read ?? ENDED;
    const { partsOf } = this.#source!;
    if (done === true) this.ended();
    else if (partsOf === undefined) this.passed(value as StreamPart);
    else for (const part of partsOf(value)) this.passed(part);
    if (!this.#isDrained) this.#source!.deliver?.(read);
    return read;
  };

  readonly #broken = (error: unknown): never => {
    this.failed(error);
    throw error;
  };

  #pass(part: StreamPart): void {
    if (++this.#partsSinceLook <= MOST_READINGS) this.#lastPartMicros = this.#time.nowMicros();
    if (this.#alarm === undefined) this.#watchFor(this.#call.budget.idleMs);
    if (part.usage !== undefined) {
      this.#usage = mergedUsage(this.#usage, part.usage);
      this.#isBilled = hasCounts({ outputTokens: this.#usage?.outputTokens });
    }
    if (part.type === 'finish') this.#end(this.#passedTokens());
    else this.#count(part);
  }

  /** The usage until now, without that of an answer which has gone on since. */
  get #bill(): Usage | undefined {
    return this.#isBilled ? this.#usage : { inputTokens: this.#usage?.inputTokens };
  }

  get #isRefused(): boolean {
    return this.#hasFailed && !this.#hasAnswered && !this.#isBilled;
  }

  #end(expected: Tokens | undefined, usage = this.#usage): void {
    this.#over(() => (this.#isRefused ? this.#call.cancel() : this.#call.finish(usage, expected)));
  }

  #over(settle: () => Promise<void>): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#alarm?.cancel();
    void settle();
  }

  #count(part: StreamPart): void {
    const { type, delta } = part;
    if (typeof delta === 'string') {
      this.#isBilled = false;
      if (type === 'reasoning-delta') this.#reasoningLength += delta.length;
      else if (type === 'tool-input-delta') this.#inputPiecesLength += delta.length;
      else this.#textLength += delta.length;
    } else if (type === 'tool-call' && typeof part.input === 'string') this.#inputsLength += part.input.length;
    else if (type === 'file') this.#hasFiles = true;
    if (type === 'error') this.#hasFailed = true;
    if (!this.#hasAnswered && !BEFORE_ANSWER.has(type)) this.#hasAnswered = true;
  }

  /** The tokens of an answer that has passed as a whole, as far as it can be read. */
  #passedTokens(): Tokens | undefined {
    const outputLength = this.#textLength + Math.max(this.#inputPiecesLength, this.#inputsLength);
    if (this.#hasFiles || outputLength + this.#reasoningLength === 0) return undefined;
    return { ...this.#call.estimate, output: tokensIn(outputLength), reasoning: tokensIn(this.#reasoningLength) };
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
    if (this.#isDrained) {
      this.cut();
      void this.#stop(undefined);
    } else if (this.#isAwaited) {
      this.#call.reportSilence();
      void this.#call.finish(this.#bill, this.#call.estimate);
    } else this.#abandon();
  }

  #abandon(): void {
    if (!this.#isBilled && !this.#isRefused) this.#call.reportAbandoned();
    this.#lost = new Error(`This stream was not read for ${this.#call.budget.idleMs / 1000} s, and was ended.`);
    this.#lost.name = 'AbortError';
    void this.left(this.#lost);
  }

  /** Reads the rest for its usage. */
  async #drain(): Promise<void> {
    this.#isDrained = true;
    if (this.#alarm === undefined) this.#watchFor(this.#call.budget.idleMs);
    try {
      // oxlint-disable-next-line no-await-in-loop -- a part after the other
      while (!this.#isOver) await this.#next();
    } catch {
      // It has ended the watch.
    }
  }

  #next(): Promise<Read> {
    return this.#source!.read().then(this.#received, this.#broken);
  }

  async #stop(reason: unknown): Promise<unknown> {
    try {
      return await this.#source?.stop(reason);
    } catch {
      return undefined;
    }
  }
}
