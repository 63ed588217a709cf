import type { Decision } from '@sluice/core';
import { waitText } from './wait-text.ts';

/** From this wait on, the AI SDK does not wait for as long as an error says, but tries again sooner. */
const LONGEST_WAIT_MS = 60_000;

/** The marks by which the AI SDK, of any copy and version, knows errors of its own. */
const SDK_ERROR = Symbol.for('vercel.ai.error');
const SDK_CALL_ERROR = Symbol.for('vercel.ai.error.AI_APICallError');

/**
 * A call of a model that its budget does not allow. Nothing was taken, and the provider was not called.
 *
 * `statusCode` is what a server can answer with: 429, or 503 where a store could not decide.
 */
export class BudgetExceededError extends Error {
  override readonly name = 'BudgetExceededError';
  /** The decision of the limiter: the strictest limit, and the results of all of them. */
  readonly decision: Decision;
  /** Milliseconds until the same call can pass, if no other comes; `Infinity` when no wait helps. */
  readonly retryAfterMs: number;
  readonly statusCode: 429 | 503;
  /** Whether the AI SDK calls the model again by its `maxRetries`: with the option `retry`, and a wait below a minute. */
  readonly isRetryable: boolean;
  /** Where it is retried, the wait: the AI SDK reads it as it reads that of a provider. */
  readonly responseHeaders: Readonly<Record<string, string>> | undefined;

  /** @param retry - Whether the AI SDK may call the model again, after the wait. */
  constructor(decision: Decision, retry: boolean) {
    super(messageOf(decision));
    const { retryAfterMs, outcome } = decision;
    this.decision = decision;
    this.retryAfterMs = retryAfterMs;
    this.statusCode = outcome === 'unavailable' ? 503 : 429;
    this.isRetryable = retry && retryAfterMs < LONGEST_WAIT_MS;
    this.responseHeaders = this.isRetryable
      ? { 'retry-after-ms': String(Math.ceil(retryAfterMs)) } // A timer of a fraction would end before it.
      : undefined;
    if (this.isRetryable) Object.assign(this, { [SDK_ERROR]: true, [SDK_CALL_ERROR]: true });
  }
}

function messageOf({ limit, outcome, blocked, remaining, retryAfterMs }: Decision): string {
  if (outcome === 'unavailable') return "The budget could not be checked, because its store can't answer.";
  if (blocked) return `Limit "${limit}" is blocked for this id.`;
  const rest = `Limit "${limit}" does not allow this call: ${remaining} left`;
  if (retryAfterMs === Infinity) return `${rest}, and no wait helps.`;
  return `${rest}. It can pass in ${waitText(retryAfterMs)}.`;
}
