import type { ResponseEnd } from '@sluice/core/http';
import { limitsStatus, rateLimit } from '@sluice/fastify';
import {
  fastify,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  type FastifyServerOptions,
} from 'fastify';
import type { Server } from 'node:net';
import {
  andThen,
  ok,
  statusOf,
  type Context,
  type Framework,
  type Handler,
  type Options,
  type Protocol,
} from './framework.ts';

/** Fastify under the contract. A route with limits is a context of its own, in which they are registered. */
export const fastifyFramework = (protocol: Protocol = 'HTTP/1.1'): Framework => ({
  name: 'Fastify 5',
  protocol,
  make(options) {
    const instance = fastify();
    let failure: Error | undefined;
    rateLimit(instance, options as never, (error) => (failure = error));
    if (failure !== undefined) throw failure;
    return rateLimit;
  },
  makeStatus: (options) => limitsStatus(options as never),
  async serve({ before, limits = [], status, routes = {}, trustsEveryProxy = false, plain, onError }): Promise<Server> {
    const http2 = protocol === 'HTTP/2';
    const app = fastify({ trustProxy: trustsEveryProxy, ...(http2 && { http2 }) } as FastifyServerOptions);
    app.setErrorHandler(async (error: unknown, _request, reply) => {
      onError?.(error);
      return reply.code(statusOf(error)).send('failed');
    });
    if (before !== undefined) {
      app.addHook('onRequest', (request, reply, next) => void andThen(before(contextOf(request, reply)), () => next()));
    }
    if (plain !== undefined) app.addHook('onRequest', (_request, _reply, _next): void => plain());
    for (const options of limits) await app.register(rateLimit, options as never);
    if (status !== undefined) app.get('/rate_limit', limitsStatus(status as never));
    for (const [path, { limits: own = [], handle = ok }] of Object.entries(routes)) {
      await app.register((child) => route(child, path, own, handle));
    }
    await app.ready();
    return app.server;
  },
  onDenied: (handle) => (request: FastifyRequest, reply: FastifyReply, decision: never) =>
    handle(contextOf(request, reply), decision),
  settle: (trueCost) =>
    ((_request: FastifyRequest, reply: FastifyReply, end: ResponseEnd) => trueCost(reply.statusCode, end)) as never,
});

async function route(child: FastifyInstance, path: string, own: readonly Options[], handle: Handler): Promise<void> {
  for (const options of own) await child.register(rateLimit, options as never);
  child.all(path, async (request, reply) => {
    const body = await handle(contextOf(request, reply));
    return body ?? reply.hijack();
  });
}

function contextOf(request: FastifyRequest, reply: FastifyReply): Context {
  return {
    incoming: request.raw,
    outgoing: reply.raw,
    decision: request.rateLimit,
    status: (code) => void reply.code(code),
    set: (name, value) => void reply.header(name, value),
  };
}
