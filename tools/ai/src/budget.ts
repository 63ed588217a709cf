import { complaint } from '@sluice/core/kit';
import { beginCall } from './begin-call.ts';
import { checkedBudget, COMMON_OPTIONS, type Budget, type BudgetOptions } from './budget-options.ts';
import type { CallParams } from './call-params.ts';
import { extentOf } from './estimate.ts';
import { answerOf, readAnswer, type OpenCall } from './open-call.ts';
import type { Usage } from './usage.ts';
import { watchedStream, type PartStream } from './watched-stream.ts';

const ASKED = {
  of: 'budget',
  known: [...COMMON_OPTIONS, 'retry'],
  example: "budget({ limiter, limits: { Requests: 1, Tokens: 'tokens' }, id: '12345678' })",
};

/** What a middleware is told of its model. */
interface WrappedModel {
  readonly specificationVersion: string;
}

/** A call of `doGenerate` of a language model. */
interface GenerateCall<Result> {
  readonly doGenerate: () => PromiseLike<Result>;
  readonly params: CallParams;
  readonly model: WrappedModel;
}

/** A call of `doStream` of a language model. */
interface StreamCall<Result> {
  readonly doStream: () => PromiseLike<Result>;
  readonly params: CallParams;
  readonly model: WrappedModel;
}

/** A call of `doEmbed` of a model of embeddings. */
interface EmbedCall<Result> {
  readonly doEmbed: () => PromiseLike<Result>;
  readonly params: CallParams;
  readonly model: WrappedModel;
}

/** A middleware for `wrapLanguageModel` and `wrapEmbeddingModel` of the AI SDK 6 and 7. */
export interface BudgetMiddleware {
  readonly specificationVersion: 'v3';
  /** Decides, makes and settles a call of `doGenerate`. */
  wrapGenerate<Result extends { readonly usage: Usage }>(this: void, call: GenerateCall<Result>): Promise<Result>;
  /** The same for `doStream`: it settles when the stream ends. */
  wrapStream<Result extends { readonly stream: PartStream }>(this: void, call: StreamCall<Result>): Promise<Result>;
  /** The same for `doEmbed` of a model of embeddings. */
  wrapEmbed<Result extends { readonly usage?: { readonly tokens: number } | undefined }>(
    this: void,
    call: EmbedCall<Result>,
  ): Promise<Result>;
}

/**
 * Decides each call of a model by limits before the provider is called, by an estimate of what it will use, and settles what
 * it has used.
 *
 *     const model = wrapLanguageModel({
 *       model: anthropic('claude-sonnet-5'),
 *       middleware: budget({ limiter, id: '12345678', limits: { Requests: 1, Tokens: 'tokens', InProgress: 1 } }),
 *     });
 *
 * A denied call rejects with a {@link BudgetExceededError}. Each step of a loop of tools, and each retry, is a call. A call
 * that fails before the first part of its answer uses no tokens, and its fixed costs stay.
 *
 * @throws {SluiceError} `ERR_OPTION`, `ERR_UNKNOWN_OPTION`, `ERR_UNKNOWN_LIMIT`, `ERR_COST_OVER_BURST`, `ERR_DURATION`.
 */
export function budget<Name extends string>(options: BudgetOptions<Name>): BudgetMiddleware {
  const checked = checkedBudget(ASKED, options);
  return {
    specificationVersion: 'v3',
    async wrapGenerate({ doGenerate, params, model }) {
      checkModel(model);
      return begun(checked, params, async (call) => {
        const result = await answerOf(doGenerate, call);
        return readAnswer(result, call, () => call.finish(result.usage).then(() => result));
      });
    },
    async wrapStream({ doStream, params, model }) {
      checkModel(model);
      return begun(checked, params, async (call) => {
        const result = await answerOf(doStream, call);
        return readAnswer(result, call, () => ({ ...result, stream: watchedStream(result.stream, call) }));
      });
    },
    async wrapEmbed({ doEmbed, params, model }) {
      checkModel(model);
      return begun(checked, params, async (call) => {
        const result = await answerOf(doEmbed, call);
        return readAnswer(result, call, () => call.finish(usageOfTokens(result.usage?.tokens)).then(() => result));
      });
    },
  };
}

function begun<Result>(
  checked: Budget<readonly [CallParams]>,
  params: CallParams,
  make: (call: OpenCall) => Promise<Result>,
): Promise<Result> {
  return beginCall(checked, { args: [params], extent: extentOf(params), signal: params.abortSignal }, make);
}

function usageOfTokens(total: number | undefined): Usage {
  const inputTokens = { total, noCache: undefined, cacheRead: undefined, cacheWrite: undefined };
  return { inputTokens, outputTokens: { total: 0, text: undefined, reasoning: undefined } };
}

/**
 * Refuses models whose usage has another form: those of the AI SDK 5 and before, and models of the first version of the
 * specification, which the AI SDK 6 and 7 take for later ones.
 */
function checkModel(model: WrappedModel): void {
  const { specificationVersion } = model;
  const isFirst = 'defaultObjectGenerationMode' in model;
  if (!isFirst && (specificationVersion === 'v3' || specificationVersion === 'v4')) return;
  throw complaint('ERR_OPTION', {
    option: 'model',
    demand: 'a model of the AI SDK 6 or 7',
    value: isFirst ? 'v1' : specificationVersion,
    remedy: 'Update `ai` to 6 or 7, and the package of the provider with it.',
  });
}
