import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ResponseFields } from './dialects/dialect.ts';
import type { RequestDecision } from './request-decision.ts';

/**
 * One request and its response, independent of the framework: what an adapter implements. `Request` is the type of the
 * request that the framework passes to users' functions.
 */
export interface Exchange<Request> extends ResponseFields {
  readonly request: Request;
  readonly incoming: IncomingMessage;
  /** Undefined when there is no HTTP response, as on an upgrade. */
  readonly outgoing?: ServerResponse | undefined;
  /** The decision, stored on the framework's request. A value that the user stored there is replaced. */
  decision: RequestDecision | undefined;
}
