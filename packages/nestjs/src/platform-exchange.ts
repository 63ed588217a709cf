import { endIfBegun, NodeExchange, sendDenial, type Denial, type RequestDecision } from '@sluice/core/http';
import type { ExecutionContext } from '@nestjs/common';
import type { IncomingMessage, ServerResponse } from 'node:http';

/** What a platform's request is used for: as the place of the decision. */
interface Limited {
  rateLimit?: RequestDecision;
}

/** What is used of a request of Fastify. */
interface FastifyRequest extends Limited {
  readonly raw: IncomingMessage;
}

/** What is used of a reply of Fastify. */
interface FastifyReply {
  readonly raw: ServerResponse;
  readonly sent: boolean;
  getHeader(name: string): number | string | readonly string[] | undefined;
  header(name: string, value: string): unknown;
  code(status: number): FastifyReply;
  headers(fields: Readonly<Record<string, string>>): FastifyReply;
  send(body: Buffer): unknown;
}

/** Adapts a request and a response of Express, or of Node itself, to the flow of core. Users' functions get the context. */
class PlatformExchange extends NodeExchange<ExecutionContext> {
  readonly #limited: Limited;

  constructor(context: ExecutionContext, request: Limited, incoming: IncomingMessage, outgoing: ServerResponse) {
    super(context, incoming, outgoing);
    this.#limited = request;
  }

  get decision(): RequestDecision | undefined {
    return this.#limited.rateLimit;
  }

  set decision(decision: RequestDecision) {
    this.#limited.rateLimit = decision;
  }
}

/** Adapts a request and a reply of Fastify. */
class FastifyExchange extends PlatformExchange {
  readonly #reply: FastifyReply;

  constructor(context: ExecutionContext, request: FastifyRequest, reply: FastifyReply) {
    super(context, request, request.raw, reply.raw);
    this.#reply = reply;
  }

  override getField(name: string): number | string | readonly string[] | undefined {
    return this.#reply.getHeader(name);
  }

  override setField(name: string, value: string): void {
    void this.#reply.header(name, value);
  }
}

/** Returns the exchange for a request and a response of a platform; `undefined` if they are of another kind. */
export function platformExchange(
  context: ExecutionContext,
  request: object,
  response: object,
): NodeExchange<ExecutionContext> | undefined {
  if (isFastifyRequest(request) && isReply(response)) return new FastifyExchange(context, request, response);
  if (isIncoming(request) && isOutgoing(response)) return new PlatformExchange(context, request, request, response);
  return undefined;
}

/** Sends a denial on the response of a platform. If the response has begun, it is ended instead. */
export function sendByPlatform(settings: Parameters<typeof sendDenial>[0], response: object, denial: Denial): void {
  if (!isReply(response)) return sendDenial(settings, response as ServerResponse, denial);
  if (response.sent || endIfBegun(settings, response.raw)) return;
  const { status, fields, body } = denial;
  // Sent as bytes, because Fastify adds a charset to the type of a string. The media type of problem details has no
  // such parameter (RFC 9457 section 6.1).
  void response.code(status).headers(fields).send(Buffer.from(body));
}

function isFastifyRequest(request: object): request is FastifyRequest {
  return 'raw' in request;
}

function isReply(response: object): response is FastifyReply {
  return 'raw' in response;
}

function isIncoming(request: object): request is IncomingMessage & Limited {
  return 'headers' in request;
}

function isOutgoing(response: object): response is ServerResponse {
  return 'setHeader' in response;
}
