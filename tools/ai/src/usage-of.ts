import { reasonOf, type EventSink } from '@sluice/core/kit';
import { ignoreRejection } from './ignore-rejection.ts';
import type { Usage } from './usage.ts';

/** What an answer of a provider, or a part of a streamed one, says. */
export interface Used {
  /** The tokens used until now, as far as the provider says them here. */
  readonly usage?: Usage | undefined;
  /** What this part adds to the answer. */
  readonly text?: string | undefined;
  /** What this part adds to the thinking of the model. */
  readonly reasoning?: string | undefined;
  /** Whether it says that the provider failed. */
  readonly failed?: boolean | undefined;
}

/** Reads what an answer, or a part of a streamed one, says of what it has used. */
export type UsageOf = (answer: unknown) => Used;

/** Anything that a provider has sent: each property may be there or not. */
type Sent = { readonly [name: string]: any } | null | undefined;

/**
 * The readers for {@link around}: `usageOf.openai` for `chat.completions`, `responses`, `completions` and `embeddings` of
 * `openai`, and for the many providers of the same interface; `usageOf.anthropic` for `messages` of `@anthropic-ai/sdk`.
 */
export const usageOf: { readonly openai: UsageOf; readonly anthropic: UsageOf } = { openai, anthropic };

/** Returns a reader that never throws, so that the caller always gets the answer of the model. */
export function safeReader(reads: UsageOf, emit: EventSink): UsageOf {
  return (answer) => {
    try {
      return ignoreRejection(reads(answer)) ?? {};
    } catch (cause) {
      const message = `The usage of a call could not be read (${reasonOf(cause)}). The estimate counts instead.`;
      emit({ type: 'warning', message });
      return {};
    }
  };
}

function openai(answer: unknown): Used {
  const sent = answer as Sent;
  const type: unknown = sent?.['type'];
  return typeof type === 'string'
    ? responseEvent(type, sent)
    : { ...chatPart(sent), usage: openaiUsage(sent?.['usage']), failed: sent?.['status'] === 'failed' };
}

/** An event of a streamed response: its last one has the whole response. */
function responseEvent(type: string, sent: Sent): Used {
  const usage = openaiUsage(sent?.['response']?.usage);
  if (type === 'error' || type === 'response.failed') return { usage, failed: true };
  const delta: unknown = sent?.['delta'];
  if (!type.endsWith('.delta') || typeof delta !== 'string') return { usage };
  return type.startsWith('response.reasoning') ? { reasoning: delta } : { text: delta };
}

/** A chunk of a chat; a whole one has messages instead, which its usage counts. */
function chatPart(sent: Sent): Used {
  let text = '';
  let reasoning = '';
  for (const { delta, text: plain } of (sent?.['choices'] ?? []) as NonNullable<Sent>[]) {
    text += textIn(plain) + textIn(delta?.content) + textIn(delta?.refusal);
    for (const call of delta?.tool_calls ?? [])
      text += textIn(call?.function?.name) + textIn(call?.function?.arguments);
    // Other providers of the interface send it: OpenAI does not show what its models think.
    reasoning += textIn(delta?.reasoning_content ?? delta?.reasoning);
  }
  return { text, reasoning };
}

function openaiUsage(sent: Sent): Usage | undefined {
  if (typeof sent !== 'object' || sent === null) return undefined;
  const input = sent['prompt_tokens_details'] ?? sent['input_tokens_details'];
  const output = sent['completion_tokens_details'] ?? sent['output_tokens_details'];
  return {
    inputTokens: {
      total: sent['prompt_tokens'] ?? sent['input_tokens'],
      cacheRead: input?.cached_tokens,
      // Gateways send it: OpenAI does not count it.
      cacheWrite: input?.cache_write_tokens ?? input?.cache_creation_tokens ?? sent['cache_creation_input_tokens'],
    },
    outputTokens: {
      total: sent['completion_tokens'] ?? sent['output_tokens'] ?? outputOfEmbedding(sent),
      reasoning: output?.reasoning_tokens,
    },
  };
}

/** Embeddings have no output: their total is that of the prompt. */
function outputOfEmbedding({ prompt_tokens: input, total_tokens: total }: NonNullable<Sent>): number | undefined {
  return typeof input === 'number' && input === total ? 0 : undefined;
}

function anthropic(answer: unknown): Used {
  const sent = answer as Sent;
  switch (sent?.['type']) {
    case 'message_start': {
      // Its output is what was ready when it was sent.
      const { inputTokens } = anthropicUsage(sent?.['message']?.usage);
      return { usage: { inputTokens } };
    }
    case 'content_block_start':
      return { text: textIn(sent?.['content_block']?.name) };
    case 'content_block_delta': {
      const delta: Sent = sent?.['delta'];
      return {
        text: textIn(delta?.['text']) + textIn(delta?.['partial_json']),
        reasoning: textIn(delta?.['thinking']),
      };
    }
    case 'message_delta':
      // Its prompt may have grown by tools of the provider, or be left out.
      return { usage: anthropicUsage(sent?.['usage']) };
    default:
      // Other events, and a whole message.
      return { usage: sent?.['usage'] && anthropicUsage(sent['usage']), failed: sent?.['type'] === 'error' };
  }
}

/** Its input is what is neither read from a cache nor written into one; its output is with what was thought. */
function anthropicUsage(sent: Sent): Usage {
  return {
    inputTokens: {
      noCache: sent?.['input_tokens'],
      cacheRead: sent?.['cache_read_input_tokens'],
      cacheWrite: sent?.['cache_creation_input_tokens'],
    },
    outputTokens: {
      total: sent?.['output_tokens'],
      reasoning: sent?.['output_tokens_details']?.thinking_tokens,
    },
  };
}

function textIn(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
