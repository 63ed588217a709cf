import { APICallError } from 'ai';
import * as mocks from 'ai/test';
import type { MockLanguageModelV3 } from 'ai/test';

type Model = ConstructorParameters<typeof MockLanguageModelV3>[0] & {};
type StreamOf = Exclude<Model['doStream'], undefined | readonly unknown[] | ((...args: never) => unknown)>;

/**
 * The mock of the newest specification that `ai` has: 7 converts older models, and reads their streams ahead, so that what
 * they deliver may not have passed.
 */
const MockModel: typeof MockLanguageModelV3 =
  (mocks as { MockLanguageModelV4?: typeof MockLanguageModelV3 }).MockLanguageModelV4 ?? mocks.MockLanguageModelV3;

/** A part of a stream, and of the content of an answer, as the mock models of `ai` give them. */
export type Part = StreamOf['stream'] extends ReadableStream<infer P> ? P : never;
export type ModelUsage = Extract<Part, { type: 'finish' }>['usage'];

/** What a model does with one call. */
export interface Script {
  readonly parts: readonly Part[];
  /** How its stream ends after the parts: it is closed, it breaks, or nothing comes any more. */
  readonly end: 'closes' | 'breaks' | 'hangs';
  /** The status with which the call is refused, before anything else. */
  readonly refused?: number | undefined;
  /** Whether its stream breaks when the call is aborted. */
  readonly obeysAbort?: boolean | undefined;
}

/** What a model has delivered in one call. */
export interface Delivered {
  readonly promptLength: number;
  readonly isStreamed: boolean;
  readonly parts: Part[];
  end: 'refused' | 'open' | 'closed' | 'broken' | 'cancelled' | 'aborted';
}

export function usageOf(input: number | undefined, output: number | undefined): ModelUsage {
  return {
    inputTokens: { total: input, noCache: undefined, cacheRead: undefined, cacheWrite: undefined },
    outputTokens: { total: output, text: undefined, reasoning: undefined },
  };
}

export function textPart(delta: string): Part {
  return { type: 'text-delta', id: 't', delta };
}

export function finishPart(usage: ModelUsage, unified: 'stop' | 'error' | 'tool-calls' = 'stop'): Part {
  return { type: 'finish', usage, finishReason: { unified, raw: undefined } };
}

/** A text as streams have it, between its start and its end. */
export function textParts(...deltas: readonly string[]): Part[] {
  return [{ type: 'text-start', id: 't' }, ...deltas.map((delta) => textPart(delta)), { type: 'text-end', id: 't' }];
}

/** A mock model of `ai` that answers its calls by scripts, in turn, and remembers what it has delivered. */
export class ScriptedModel extends MockModel {
  readonly delivered: Delivered[] = [];

  constructor(scripts: readonly Script[]) {
    let next = 0;
    const begin = (prompt: readonly { readonly content: unknown }[], isStreamed: boolean): [Script, Delivered] => {
      const script = scripts[Math.min(next++, scripts.length - 1)]!;
      const delivered: Delivered = { promptLength: lengthOf(prompt), isStreamed, parts: [], end: 'open' };
      this.delivered.push(delivered);
      if (script.refused !== undefined) {
        delivered.end = 'refused';
        throw refusal(script.refused);
      }
      return [script, delivered];
    };
    super({
      async doGenerate({ prompt, abortSignal }) {
        const [script, delivered] = begin(prompt, false);
        if (script.end === 'hangs') await untilAborted(abortSignal, delivered);
        const finish = script.parts.find((part) => part.type === 'finish');
        delivered.end =
          finish === undefined || script.parts.some(({ type }) => type === 'error') ? 'refused' : 'closed';
        if (finish === undefined || delivered.end === 'refused') throw refusal(500);
        delivered.parts.push(...script.parts);
        return { content: contentOf(script), usage: finish.usage, finishReason: finish.finishReason, warnings: [] };
      },
      async doStream({ prompt, abortSignal }) {
        const [script, delivered] = begin(prompt, true);
        return { stream: streamOf(script, delivered, script.obeysAbort === true ? abortSignal : undefined) };
      },
    });
  }
}

/** What an answer that is not streamed has of the parts of a stream. */
function contentOf({ parts }: Script): (Extract<Part, { type: 'tool-call' }> | { type: 'text'; text: string })[] {
  const text = parts.map((part) => (part.type === 'text-delta' ? part.delta : '')).join('');
  return [{ type: 'text', text }, ...parts.filter((part) => part.type === 'tool-call')];
}

function untilAborted(signal: AbortSignal | undefined, delivered: Delivered): Promise<never> {
  return new Promise((_resolve, reject) => {
    signal?.addEventListener('abort', () => {
      delivered.end = 'aborted';
      reject(signal.reason as Error);
    });
  });
}

/** A stream that makes a part when it is asked for one, so that what is delivered has been read. */
function streamOf(script: Script, delivered: Delivered, signal: AbortSignal | undefined): ReadableStream<Part> {
  let next = 0;
  return new ReadableStream<Part>(
    {
      start(controller) {
        signal?.addEventListener('abort', () => {
          if (delivered.end !== 'open') return;

          delivered.end = 'aborted';
          controller.error(signal.reason);
        });
      },
      async pull(controller) {
        const part = script.parts[next++];
        if (part !== undefined) {
          delivered.parts.push(part);
          controller.enqueue(part);
        } else if (script.end === 'hangs') await new Promise(() => {});
        else if (script.end === 'breaks') {
          delivered.end = 'broken';
          controller.error(new Error('the connection broke'));
        } else {
          delivered.end = 'closed';
          controller.close();
        }
      },
      cancel() {
        delivered.end = 'cancelled';
      },
    },
    { highWaterMark: 0 },
  );
}

/** The error of a provider; the AI SDK retries that of a status from 500 up, at once. */
function refusal(statusCode: number): APICallError {
  return new APICallError({
    message: `refused with ${statusCode}`,
    url: 'http://127.0.0.1',
    requestBodyValues: {},
    statusCode,
    responseHeaders: { 'retry-after-ms': '0' },
  });
}

/** The characters of a prompt of texts. */
function lengthOf(prompt: readonly { readonly content: unknown }[]): number {
  const textOf = (content: unknown): string =>
    typeof content === 'string' ? content : (content as { text?: string }[]).map(({ text = '' }) => text).join('');
  return prompt.map(({ content }) => textOf(content)).join('').length;
}
