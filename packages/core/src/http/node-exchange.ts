import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Peer } from '../client/trusted-proxies.ts';
import type { RequestLimiter } from '../limiter/request-limiter.ts';
import { endIfBegun, onceOver } from './node-response.ts';
import type { Exchange, ExchangeEnd } from './exchange.ts';
import { fieldKey } from './fields.ts';
import type { Denial } from './denial.ts';
import { peerOf, serverOf } from './node-peer.ts';
import type { RequestDecision } from './request-decision.ts';

// The types of Node's own request and response are named only in this file: all else works on exchanges.

/** A request of Node's HTTP server. */
export type NodeRequest = IncomingMessage;

/** An exchange whose request is one of Node, and whose response is not known. */
export abstract class NodeRequestExchange<Request> implements Exchange<Request> {
  readonly request: Request;
  readonly incoming: IncomingMessage;
  abstract decision: RequestDecision | undefined;

  constructor(request: Request, incoming: IncomingMessage) {
    this.request = request;
    this.incoming = incoming;
  }

  abstract getField(name: string): number | string | readonly string[] | undefined;
  abstract setField(name: string, value: string): void;

  get method(): string | undefined {
    return this.incoming.method;
  }

  get peer(): Peer {
    return peerOf(this.incoming);
  }

  get server(): object | undefined {
    return serverOf(this.incoming);
  }

  header(name: string): string | undefined {
    const value = this.incoming.headers[name];
    return typeof value === 'string' ? value : undefined;
  }
}

/** An exchange with Node's own request and response, as in Express and Koa. */
export abstract class NodeExchange<Request> extends NodeRequestExchange<Request> implements Exchange<Request> {
  readonly outgoing: ServerResponse;

  constructor(request: Request, incoming: IncomingMessage, outgoing: ServerResponse) {
    super(request, incoming);
    this.outgoing = outgoing;
  }

  onEnd(done: (end: ExchangeEnd) => void): void {
    onceOver(this.incoming.socket, this.outgoing, done);
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
