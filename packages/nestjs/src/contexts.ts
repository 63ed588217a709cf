import type { ExecutionContext } from '@nestjs/common';
import { SluiceError } from '@sluice/core';
import { complaint, isPlainObject, shownName } from '@sluice/core/kit';
import type { IncomingHttpHeaders } from 'node:http';
import type { RateLimitException } from './rate-limit-exception.ts';

/** What a {@link ContextResolver} finds in a context. */
export interface ResolvedContext {
  /** The request of Express, of Fastify or of Node. The address of its client is used, and the decision is stored on it. */
  readonly request?: object | undefined;
  /**
   * The response to the request, on which the header fields are set. Without it, `settle` functions and concurrency limits
   * are errors, because nothing ends.
   */
  readonly response?: object | undefined;
  /**
   * For a context without a request: the address of the sender, or of the proxy in front, as text; `'unix'` for a peer on
   * a unix socket. Limits by address need it.
   */
  readonly address?: string | null | undefined;
  /** For a context without a request: header fields, in which trusted proxies pass the address of their client. */
  readonly headers?: IncomingHttpHeaders | undefined;
  /** Returns what is thrown for a denied request. Default: the {@link RateLimitException} itself. */
  readonly thrown?: ((exception: RateLimitException) => unknown) | undefined;
}

/** Finds the request of one kind of context, and what its client is told when it is denied. */
export type ContextResolver = (context: ExecutionContext) => ResolvedContext;

/** Resolvers by the type of a context, as `context.getType()` returns it: `graphql`, `ws`, `rpc` or your own. */
export type ContextResolvers = Readonly<Record<string, ContextResolver>>;

/** An exception that takes what its client is told, such as `WsException` and `RpcException`. */
export type ExceptionClass = new (error: object) => unknown;

/** The resolver of `http`, on the platforms of Express and Fastify. It is there without an option. */
export function httpContext(context: ExecutionContext): ResolvedContext {
  const http = context.switchToHttp();
  return { request: http.getRequest<object>(), response: http.getResponse<object>() };
}

/**
 * The resolver of `graphql`, for contexts that are `{ req }` or `{ req, res }`, as Apollo's on Express, or `{ reply }`, as
 * that of Mercurius. Each field that has a guard is a request: a query for three of them costs three times. So is each
 * subscription over `graphql-ws` or of Mercurius, at the address of its handshake.
 *
 *     RateLimitModule.forRoot({ …, contexts: { graphql: graphqlContext } })
 *
 * The error of a denied field has the code `TOO_MANY_REQUESTS`, and problem details among its `extensions`.
 */
export function graphqlContext(context: ExecutionContext): ResolvedContext {
  const { req, res, reply, extra } = context.getArgByIndex<GraphQLContext | undefined>(2) ?? {};
  // A request of HTTP may have an `extra` of the application.
  const handshake = req !== undefined && 'headers' in req ? undefined : (extra ?? req?.extra)?.request;
  return {
    request: handshake ?? req ?? reply?.request,
    // For a subscription, the `reply` of Mercurius has only the request of the handshake.
    response: res ?? (reply !== undefined && 'raw' in reply ? reply : req?.res),
    thrown: (exception) => Object.assign(exception, { extensions: extensionsOf(exception) }),
  };
}

interface GraphQLContext {
  /** For a subscription, Nest puts the context of `graphql-ws` here. */
  readonly req?: object & { readonly res?: object; readonly extra?: GraphQLContext['extra'] };
  readonly res?: object;
  readonly reply?: { readonly request: object };
  /** `graphql-ws` passes the request of the handshake. */
  readonly extra?: { readonly request?: object };
}

const GRAPHQL_CODES: Readonly<Record<number, string>> = { 403: 'FORBIDDEN', 429: 'TOO_MANY_REQUESTS' };

function extensionsOf(exception: RateLimitException): object {
  return { code: GRAPHQL_CODES[exception.getStatus()] ?? 'SERVICE_UNAVAILABLE', ...messageOf(exception) };
}

/**
 * Creates the resolver of `ws`, for gateways. Each message is a request. The address is that of the handshake for
 * Socket.IO, and that of the connection for `ws`.
 *
 *     RateLimitModule.forRoot({ …, contexts: { ws: webSocketContext(WsException) } })
 *
 * @param exception - `WsException` of `@nestjs/websockets`, which takes problem details with `retryAfterSeconds`.
 */
export function webSocketContext(exception: ExceptionClass): ContextResolver {
  checkException('webSocketContext', exception, 'WsException');
  return (context) => {
    const { handshake, _socket } = context.switchToWs().getClient<WebSocketClient>();
    const thrown = (denied: RateLimitException): unknown => new exception(messageOf(denied));
    if (handshake === undefined) return { request: { socket: _socket }, thrown };
    return { address: handshake.address, headers: handshake.headers, thrown };
  };
}

interface WebSocketClient {
  /** Socket.IO has it. */
  readonly handshake?: { readonly address: string; readonly headers: IncomingHttpHeaders };
  /** `ws` has it. */
  readonly _socket?: object | null;
}

/**
 * Creates the resolver of `rpc`, for handlers of microservices. Each message is a request. Its address is known over TCP;
 * over other transports use keys by a function of the context.
 *
 *     RateLimitModule.forRoot({ …, contexts: { rpc: microserviceContext(RpcException) } })
 *
 * @param exception - `RpcException` of `@nestjs/microservices`, which takes problem details with `retryAfterSeconds`.
 */
export function microserviceContext(exception: ExceptionClass): ContextResolver {
  checkException('microserviceContext', exception, 'RpcException');
  return (context) => ({
    request: { socket: context.switchToRpc().getContext<RpcContext | undefined>()?.getSocketRef?.().netSocket },
    thrown: (denied) => new exception(messageOf(denied)),
  });
}

interface RpcContext {
  /** Over TCP. */
  readonly getSocketRef?: () => { readonly netSocket?: object };
}

/** What a client without header fields is told. */
function messageOf(exception: RateLimitException): object {
  const { retryAfterSeconds } = exception;
  return { ...exception.getResponse(), ...(retryAfterSeconds !== undefined && { retryAfterSeconds }) };
}

function checkException(caller: string, exception: unknown, name: string): void {
  if (typeof exception === 'function') return;
  const remedy = `For example ${caller}(${name}).`;
  throw complaint('ERR_OPTION', { option: `${caller}(exception)`, demand: 'a class', value: exception, remedy });
}

/**
 * Validates the option `contexts`.
 *
 * @throws {SluiceError} `ERR_OPTION`.
 */
export function checkedContexts(contexts: unknown): ContextResolvers {
  if (contexts === undefined) return { http: httpContext };
  if (!isPlainObject(contexts)) {
    const remedy = 'For example contexts: { graphql: graphqlContext }.';
    throw complaint('ERR_OPTION', { option: 'contexts', demand: 'an object of resolvers', value: contexts, remedy });
  }
  for (const [type, resolver] of Object.entries(contexts)) {
    if (typeof resolver === 'function') continue;
    const remedy = 'It finds the request of a context: (context) => ({ address: … }).';
    throw complaint('ERR_OPTION', { option: `contexts.${type}`, demand: 'a function', value: resolver, remedy });
  }
  return { http: httpContext, ...(contexts as ContextResolvers) };
}

/** For messages: what to write for the types of contexts that Nest has. */
const EXAMPLES: Readonly<Record<string, string>> = {
  graphql: 'graphql: graphqlContext',
  ws: 'ws: webSocketContext(WsException)',
  rpc: 'rpc: microserviceContext(RpcException)',
};

/** Creates the error for a handler with limits in a context that has no resolver: it would have no limits. */
export function missingResolver(type: string, handler: string): SluiceError {
  const example = EXAMPLES[type] ?? `'${shownName(type)}': (context) => ({ address: … })`;
  return new SluiceError(
    'ERR_OPTION',
    `must be given, because ${shownName(handler)} has limits and is called in such a context. For example contexts: { ${example} }. For a handler without limits: @Unlimited().`,
    { path: `contexts.${type}` },
  );
}

/** Creates the error for a context whose request and response are not those of a platform. */
export function notOfPlatform(type: string): SluiceError {
  return new SluiceError(
    'ERR_OPTION',
    `The resolver \`contexts.${shownName(type)}\` must find a request and a response of Express or Fastify, but found others. For a context without a response return { address }.`,
  );
}
