import type { Decision } from '@sluice/core';
import { MAX_TOKENS } from '@sluice/core/kit';
import type { WindowNumbers } from './bucket-numbers.ts';

/** A decision as libraries with windows understand it. */
export interface Counts {
  /**
   * What their counter would show: the tokens taken, the request's own included. More than the limit for a denied request;
   * 1 where nobody counts.
   */
  readonly hits: number;
  /** For an allowed request until the bucket is full, for a denied one until it can pass, in milliseconds. */
  readonly resetMs: number;
}

/** @throws {UnavailableError} Under the failure policy `closed`, when the store can't answer. */
export function countsOf(decision: Decision, { limit, windowMs }: WindowNumbers): Counts {
  if (decision.outcome === 'unavailable') throw new UnavailableError(decision);
  const burst = Math.min(Math.floor(limit), MAX_TOKENS);
  if (decision.allowed) {
    // No limit has applied: its id is unlimited, or nobody counts under the policy `open`.
    const hits = decision.limit === null ? 1 : Math.max(1, burst - decision.remaining);
    return { hits, resetMs: decision.resetAfterMs };
  }
  // A limit below 1 never lets anyone through. What its clients are told is the window.
  const resetMs = Number.isFinite(decision.retryAfterMs) ? decision.retryAfterMs : windowMs;
  return { hits: Math.max(1, Math.floor(limit) + 1), resetMs };
}

/**
 * What the counter of a library would show before the next request: 0 and 0 for a full bucket.
 *
 * @param decision - Of a check that takes nothing.
 * @throws {UnavailableError} As {@link countsOf}.
 */
export function readOf(decision: Decision, { limit }: WindowNumbers): Counts {
  if (decision.outcome === 'unavailable') throw new UnavailableError(decision);
  if (decision.blocked || decision.limit === null) return { hits: 0, resetMs: 0 };
  const burst = Math.min(Math.floor(limit), MAX_TOKENS);
  return { hits: burst - Math.min(decision.remaining, burst), resetMs: decision.resetAfterMs };
}

/**
 * The store can't answer, and the failure policy is `closed`. Express, Fastify and Hono answer such an error with the
 * status 503.
 */
class UnavailableError extends Error {
  override readonly name = 'UnavailableError';
  readonly status = 503;
  readonly statusCode = 503;
  readonly headers: Readonly<Record<string, string>>;

  constructor({ retryAfterMs, failure }: Decision) {
    super('The store of the rate limiter can not answer, and its failure policy is closed.', { cause: failure?.cause });
    this.headers = { 'Retry-After': String(Math.ceil(retryAfterMs / 1000)) };
  }

  /** What Hono sends for an error. */
  getResponse(): Response {
    return new Response('Service Unavailable', { status: this.status, headers: this.headers });
  }
}
