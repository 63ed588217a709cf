import type { IncomingMessage, ServerResponse } from 'node:http';
import type { RequestLimiter } from '../limiter/request-limiter.ts';
import { endIfBegun } from './begun-response.ts';
import type { Exchange } from './exchange.ts';
import { fieldKey } from './field-key.ts';
import type { Denial } from './denial.ts';
import type { RequestDecision } from './request-decision.ts';

/** An exchange with Node's own response, as in Express and Koa. */
export abstract class NodeExchange<Request> implements Exchange<Request> {
  readonly request: Request;
  readonly incoming: IncomingMessage;
  readonly outgoing: ServerResponse;
  abstract decision: RequestDecision | undefined;

  constructor(request: Request, incoming: IncomingMessage, outgoing: ServerResponse) {
    this.request = request;
    this.incoming = incoming;
    this.outgoing = outgoing;
  }

  getField(name: string): number | string | readonly string[] | undefined {
    return this.outgoing.getHeader(fieldKey(name));
  }

  setField(name: string, value: string): void {
    try {
      this.outgoing.setHeader(name, value);
    } catch (error) {
      if (!this.outgoing.headersSent) throw error;
    }
  }
}

/**
 * Sends a denial on Node's own response. If the response has begun, it is ended instead, see {@link endIfBegun}.
 *
 * @param settings - The settings of the middleware.
 */
export function sendDenial(
  settings: { readonly limiter: RequestLimiter<never> },
  outgoing: ServerResponse,
  { status, fields, body }: Denial,
): void {
  if (endIfBegun(settings, outgoing)) return;
  outgoing.statusCode = status;
  for (const name of Object.keys(fields)) outgoing.setHeader(name, fields[name]!);
  outgoing.setHeader('Content-Length', Buffer.byteLength(body));
  outgoing.end(body);
}
