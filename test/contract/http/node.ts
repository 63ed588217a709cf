import type { ResponseEnd } from '@sluice/core/http';
import { limitNode, limitsStatus, type LimitedRequest, type LimitNodeOptions } from '@sluice/node';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createHttp2Server } from 'node:http2';
import {
  andThen,
  ok,
  statusOf,
  type Context,
  type Framework,
  type Handler,
  type Plan,
  type Protocol,
} from './framework.ts';

type Listener = (request: IncomingMessage, response: ServerResponse) => unknown;

/** Servers of Node without a framework under the contract. */
export const nodeFramework = (protocol: Protocol = 'HTTP/1.1'): Framework => ({
  name: 'node',
  protocol,
  caller: 'limitNode',
  make: (options) => limitNode(options as never),
  makeStatus: (options) => limitsStatus(options as never),
  async serve(plan) {
    const listener = application(plan);
    return protocol === 'HTTP/2' ? createHttp2Server(listener as never) : createServer(listener);
  },
  onDenied: (handle) => async (request: IncomingMessage, response: ServerResponse, decision: never) =>
    response.end(await handle(contextOf(request, response), decision)),
  settle: (trueCost) =>
    ((_request: unknown, response: ServerResponse, end: ResponseEnd) => trueCost(response.statusCode, end)) as never,
});

/** What a server without a framework does by itself: routes, and answers to errors. */
function application({ before, limits = [], status, routes = {}, plain, onError: report }: Plan): Listener {
  const fail = (error: unknown, response: ServerResponse): void => {
    report?.(error);
    if (!response.headersSent) response.statusCode = statusOf(error);
    response.end('failed');
  };
  const onError = (error: unknown, _: unknown, response: ServerResponse): void => fail(error, response);
  const limited = (listener: Listener, all: readonly unknown[]): Listener =>
    all.reduceRight<Listener>((inner, options) => {
      const own = { ...(options as LimitNodeOptions), onError };
      return limitNode(own as never)(inner as never) as Listener;
    }, listener);
  const byPath = new Map(
    Object.entries(routes).map(([path, { limits: own = [], handle = ok }]) => [
      path,
      limited(handling(handle, fail), own),
    ]),
  );
  if (status !== undefined) byPath.set('/rate_limit', limitsStatus({ ...status, onError }));
  const route: Listener = (request, response) => (byPath.get(pathOf(request)) ?? notFound)(request, response);
  const all = limited(route, limits);
  return (request, response) =>
    andThen(before?.(contextOf(request, response)), () => {
      try {
        plain?.();
      } catch (error) {
        return fail(error, response);
      }
      return all(request, response);
    });
}

function handling(handle: Handler, fail: (error: unknown, response: ServerResponse) => void): Listener {
  return async (request, response) => {
    try {
      const body = await handle(contextOf(request, response));
      if (body !== undefined) response.end(body);
    } catch (error) {
      fail(error, response);
    }
  };
}

const notFound: Listener = (_request, response) => void (response.writeHead(404), response.end('not found'));

function pathOf({ url = '/' }: IncomingMessage): string {
  return url.split('?', 1)[0]!;
}

function contextOf(incoming: LimitedRequest, outgoing: ServerResponse): Context {
  return {
    incoming,
    outgoing,
    decision: incoming.rateLimit,
    status: (code) => void (outgoing.statusCode = code),
    set: (name, value) => void outgoing.setHeader(name, value),
  };
}
