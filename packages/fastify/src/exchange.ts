import { endIfBegun, fieldKey, type Exchange, type Refusal, type RequestDecision } from '@sluice/core/http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { RouteSettings } from './route-limits.ts';

/** A Fastify request and its reply, as the flow of core sees them. */
export class FastifyExchange implements Exchange<FastifyRequest> {
  readonly request: FastifyRequest;
  readonly #reply: FastifyReply;

  constructor(request: FastifyRequest, reply: FastifyReply) {
    this.request = request;
    this.#reply = reply;
  }

  get incoming(): IncomingMessage {
    return this.request.raw;
  }

  get outgoing(): ServerResponse {
    return this.#reply.raw;
  }

  get decision(): RequestDecision | undefined {
    return this.request.rateLimit;
  }

  set decision(decision: RequestDecision) {
    this.request.rateLimit = decision;
  }

  getField(name: string): number | string | readonly string[] | undefined {
    return this.#reply.getHeader(fieldKey(name));
  }

  setField(name: string, value: string): void {
    void this.#reply.header(fieldKey(name), value);
  }
}

/** Sends a refusal. A response that has begun on Node's own is ended instead. */
export function sendRefusal(settings: RouteSettings, reply: FastifyReply, { status, fields, body }: Refusal): void {
  if (reply.sent || endIfBegun(settings, reply.raw)) return;
  // To the type of a text Fastify would add a charset, which problem details have none of (RFC 9457 section 6.1).
  void reply.code(status).headers(fields).send(Buffer.from(body));
}
