import type { Decided } from '../decision/decided.ts';
import { denialOf, type Denial } from './denial.ts';
import type { Exchange } from './exchange.ts';
import { retryAfterSeconds, writeFields } from './fields.ts';
import type { FlowSettings } from './middleware-options.ts';
import { RequestDecision } from './request-decision.ts';

/**
 * Reports a decision to the request and the response, and returns the response to send; `null` if the request may continue.
 *
 * @param queuedMs - For how long the request was queued.
 */
export function answerTo<Request>(
  { limiter, uses, dialect, retryJitter }: FlowSettings<Request, never>,
  exchange: Exchange<Request>,
  decision: Decided,
  queuedMs: number = 0,
): Denial | null {
  const part = { decision, limiter, limits: uses };
  const soFar = exchange.decision;
  if (soFar instanceof RequestDecision) soFar.add(part);
  else exchange.decision = new RequestDecision(exchange.request, part);
  const allowed = decision.passed === 0;
  const retryAfter = allowed ? 0 : retryAfterSeconds(decision, retryJitter);
  writeFields(decision, exchange, { dialect, retryAfter, queuedMs, time: limiter.time });
  return allowed ? null : denialOf(decision, retryAfter);
}
