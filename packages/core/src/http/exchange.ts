import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ResponseFields } from './dialects/dialect.ts';
import type { RequestDecision } from './request-decision.ts';

/**
 * One request and its response, as the flow sees them: all that an adapter translates. `Request` is what the
 * framework gives to its users' functions.
 */
export interface Exchange<Request> extends ResponseFields {
  readonly request: Request;
  readonly incoming: IncomingMessage;
  /** Left out where there is no HTTP response, as on an upgrade. */
  readonly outgoing?: ServerResponse | undefined;
  /** Where the decision is kept on the framework's request; what users put there themselves is replaced. */
  decision: RequestDecision | undefined;
}
