import { complaint, isPlainObject } from '@sluice/core/kit';
import { beginCall } from './begin-call.ts';
import { checkedBudget, COMMON_OPTIONS, type LimitsOfCalls } from './budget-options.ts';
import { answerOf, readAnswer, type OpenCall } from './open-call.ts';
import { plainExtentOf } from './plain-extent.ts';
import { isStreamHelper, notToolLoop, watchHelper } from './stream-helper.ts';
import { hasCounts } from './usage.ts';
import { safeReader, type UsageOf } from './usage-of.ts';
import { isIterable, partsBy, watchIterable } from './watched-iterable.ts';
import { watchedStream, type PartStream } from './watched-stream.ts';

/** The options of {@link around}. `Args` are the arguments of the call, which `id` and `estimate` are called with, too. */
export interface AroundOptions<
  Name extends string = string,
  Args extends readonly unknown[] = readonly unknown[],
> extends LimitsOfCalls<Name, Args> {}

const ASKED = {
  of: 'around',
  known: COMMON_OPTIONS,
  example: "around({ limiter, limits: { Tokens: 'tokens' }, id: '12345678' }, call, usageOf.openai)",
};

/**
 * Returns a function that decides each call by limits before the provider is called, by an estimate of what it will use, and
 * settles what it has used. For the SDKs of OpenAI and Anthropic; {@link budget} is for the AI SDK.
 *
 *     const chat = around(
 *       { limiter, limits: { Requests: 1, Tokens: 'tokens', InProgress: 1 }, id: '12345678' },
 *       (params: OpenAI.ChatCompletionCreateParamsNonStreaming) => openai.chat.completions.create(params),
 *       usageOf.openai,
 *     );
 *
 * A stream is settled when it ends, by its usage or by what has passed; so are the `stream()` helpers of the SDKs. A denied call
 * rejects with a {@link BudgetExceededError}; a call that fails before its answer has begun uses no tokens, and its fixed costs
 * stay.
 *
 * @param call - Makes one call of a model. Its first argument is the parameters of the SDK; a `signal` of its second one is that
 * of the call. A loop of tools, such as `runTools`, is an error. An async function must not return a `toolRunner` of Anthropic,
 * whose loop begins when it is awaited.
 * @throws {SluiceError} `ERR_OPTION`, `ERR_UNKNOWN_OPTION`, `ERR_UNKNOWN_LIMIT`, `ERR_COST_OVER_BURST`, `ERR_DURATION`.
 */
export function around<Name extends string, Args extends readonly [object, ...unknown[]], Result>(
  options: AroundOptions<Name, Args>,
  call: (...args: Args) => PromiseLike<Result> | Result,
  usageOf: UsageOf,
): (...args: Args) => Promise<Result> {
  const checked = checkedBudget(ASKED, options);
  checkCall('call', call, 'For example (params) => client.messages.create(params).');
  checkCall('usageOf', usageOf, 'Write usageOf.openai or usageOf.anthropic.');
  const reads = safeReader(usageOf, checked.emit);
  return async (...args) => {
    const [params] = args;
    if (!isPlainObject(params)) throw noParams(params);
    const asked = { args, extent: plainExtentOf(params), signal: signalOf(args) };
    return beginCall(checked, asked, async (open) => {
      // Checked before the await as well: awaiting a toolRunner of Anthropic's SDK would run its loop.
      const answer = await answerOf(async () => notToolLoop(await notToolLoop(call(...args))), open);
      if (isResponse(answer)) throw await refused(answer, open);
      return readAnswer(answer, open, () => watched(answer, open, reads));
    });
  };
}

/** Makes an answer, streamed or not, settle its call. */
async function watched<Result>(answer: Result, open: OpenCall, reads: UsageOf): Promise<Result> {
  if (isWithResponse(answer)) {
    await watched(answer.data, open, reads);
    return answer;
  }
  if (isStreamHelper(answer)) return watchHelper(answer, open, reads);
  if (isReadable(answer)) return watchedStream(answer, open, partsBy(reads));
  if (isIterable(answer)) return watchIterable(answer, open, reads);
  const { usage, failed } = reads(answer);
  await (failed === true && !hasCounts(usage) ? open.cancel() : open.finish(usage));
  return answer;
}

function isReadable(answer: unknown): answer is PartStream {
  return answer instanceof ReadableStream;
}

/** Whether an answer is that of `withResponse()` of an SDK: its answer, and the response of the provider. */
function isWithResponse<Result>(answer: Result): answer is Result & { readonly data: unknown } {
  return isPlainObject(answer) && 'data' in answer && isResponse(answer['response']);
}

function isResponse(answer: unknown): answer is Response {
  return answer instanceof Response;
}

/** Stops a provider whose usage can't be read. It may have answered, so that the estimate stays. */
async function refused(answer: Response, open: OpenCall): Promise<Error> {
  // A body that is being read can't be cancelled.
  await Promise.allSettled([answer.body?.cancel(), open.finish(undefined)]);
  const remedy = 'Its usage would be unknown. Return what the SDK makes of it: for header fields call withResponse().';
  return complaint('ERR_OPTION', {
    option: 'around.call',
    demand: 'a function that returns no Response',
    value: answer,
    remedy,
  });
}

function checkCall(name: string, value: unknown, remedy: string): void {
  if (typeof value !== 'function')
    throw complaint('ERR_OPTION', { option: `around.${name}`, demand: 'a function', value, remedy });
}

function noParams(value: unknown): Error {
  const remedy = 'Call the function of `around` as you would call the SDK: await chat({ model, messages }).';
  return complaint('ERR_OPTION', { option: 'around.params', demand: 'the parameters of a call', value, remedy });
}

function signalOf([, options]: readonly unknown[]): AbortSignal | undefined {
  const { signal } = (options ?? {}) as { readonly signal?: unknown };
  return signal instanceof AbortSignal ? signal : undefined;
}
