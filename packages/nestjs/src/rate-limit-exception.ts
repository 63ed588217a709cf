import { HttpException } from '@nestjs/common';
import type { Decision } from '@sluice/core';
import type { Denial, FlowSettings } from '@sluice/core/http';

/** The settings of what denied a request. */
type DenyingSettings = Pick<FlowSettings<never, never>, 'limiter'>;

/** A denial, and what denied it. */
export interface SentDenial {
  readonly settings: DenyingSettings;
  readonly denial: Denial;
}

const sentDenials = new WeakMap<RateLimitException, SentDenial>();

/** For an exception that users construct: no limiter reports an event about it. */
const NO_EVENTS = { limiter: { emit: () => undefined } } as unknown as DenyingSettings;

/** Creates the exception of a denial. */
export function exceptionOf(sent: SentDenial): RateLimitException {
  const exception = new RateLimitException(sent.denial);
  sentDenials.set(exception, sent);
  return exception;
}

/** Returns the denial of an exception. */
export function denialOf(exception: RateLimitException): SentDenial {
  return sentDenials.get(exception)!;
}

/** Problem details (RFC 9457) of a denied request. */
export interface Problem {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  /** The names of the limits that are exceeded, those of hidden limits left out. */
  readonly 'violated-policies'?: readonly string[];
}

/**
 * Thrown by the guard for a request that is denied, or that could not be decided because the store is unavailable. The
 * status is 429, 403 for a blocked id, or 503 if the service has no room or the store is unavailable.
 *
 * Over HTTP, the header fields about the limits are already set on the response, and {@link RateLimitFilter} sends the
 * body, unless a filter of yours catches the exception.
 */
export class RateLimitException extends HttpException {
  /** The decision, with the results of all limits. */
  readonly decision: Decision;
  /** After how many whole seconds the client may try again; undefined for a blocked id. */
  readonly retryAfterSeconds: number | undefined;

  constructor(denial: Denial) {
    const problem = JSON.parse(denial.body) as Problem;
    super(problem, denial.status);
    this.message = problem.detail;
    this.decision = denial.decision;
    this.retryAfterSeconds = denial.retryAfterSeconds;
    sentDenials.set(this, { settings: NO_EVENTS, denial });
  }

  /** Returns the body of the response: problem details (RFC 9457). */
  override getResponse(): Problem {
    return super.getResponse() as Problem;
  }
}
