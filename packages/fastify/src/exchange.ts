import { endIfBegun, NodeExchange, type Answer, type RequestDecision } from '@sluice/core/http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { onceHandled } from './handled.ts';
import type { RouteSettings } from './route-limits.ts';

/** Adapts a Fastify request and its reply to the flow of core. */
export class FastifyExchange extends NodeExchange<FastifyRequest> {
  readonly #reply: FastifyReply;

  constructor(request: FastifyRequest, reply: FastifyReply) {
    super(request, request.raw, reply.raw);
    this.#reply = reply;
  }

  get decision(): RequestDecision | undefined {
    return this.request.rateLimit;
  }

  set decision(decision: RequestDecision) {
    this.request.rateLimit = decision;
  }

  override onHandled(done: () => void): void {
    onceHandled(this.request, (ended) => super.onHandled(ended), done);
  }

  override getField(name: string): number | string | readonly string[] | undefined {
    return this.#reply.getHeader(name);
  }

  override setField(name: string, value: string): void {
    void this.#reply.header(name, value);
  }
}

/** Sends a denial, or another answer. If a handler has already begun to write to Node's own response, the response is ended instead. */
export function sendDenial(
  settings: Pick<RouteSettings, 'limiter'>,
  reply: FastifyReply,
  { status, fields, body }: Answer,
): void {
  if (reply.sent || endIfBegun(settings, reply.raw)) return;
  // Sent as bytes, because Fastify adds a charset to the type of a string. The media type of problem details has no
  // such parameter (RFC 9457 section 6.1).
  void reply.code(status).headers(fields).send(Buffer.from(body));
}
