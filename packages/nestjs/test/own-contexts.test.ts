import type { ExecutionContext } from '@nestjs/common';
import { clientNetwork, createLimiter, type Limiter } from '@sluice/core';
import { httpContext, microserviceContext, rateLimit, RateLimitException, type ContextResolver } from '@sluice/nestjs';
import { RpcException } from '@nestjs/microservices';
import type { IncomingHttpHeaders } from 'node:http';
import { expect, onTestFinished, test } from 'vitest';
import { stillStore } from './app.ts';

/** A context as a library for another kind of message makes it. */
interface OwnContext {
  readonly address?: string | null;
  readonly headers?: IncomingHttpHeaders;
  readonly args?: readonly unknown[];
}

const contextOf = (type: string, own: OwnContext): ExecutionContext =>
  ({
    ...own,
    getType: () => type,
    getClass: () => class Bot {},
    getHandler: () => ({ name: 'say' }),
    switchToHttp: () => ({ getRequest: () => own.args?.[0], getResponse: () => own.args?.[1] }),
    switchToRpc: () => ({ getContext: () => own.args?.[1] }),
  }) as never;

function limited(contexts: Record<string, ContextResolver>) {
  const { store, time } = stillStore();
  const limiter: Limiter<ExecutionContext, 'PerClient'> = createLimiter({
    limits: { PerClient: { key: clientNetwork(), count: 1, period: '1m' } },
    trustedProxies: ['loopback', 'unix'],
    log: false,
    store,
    time,
  });
  onTestFinished(() => limiter.close());
  const guard = rateLimit({ limiter, contexts });
  return (type: string, own: OwnContext) => guard.canActivate(contextOf(type, own));
}

const bot: ContextResolver = (context) => context as never;

test('a context of an own type is limited by its address, and denied by a RateLimitException', () => {
  const admit = limited({ bot });
  expect(admit('bot', { address: '203.0.113.7' })).toBe(true);
  expect(() => admit('bot', { address: '203.0.113.7' })).toThrow(RateLimitException);
  expect(admit('bot', { address: '203.0.113.8' })).toBe(true);
});

test('trusted proxies pass the address of their client, also on a unix socket', () => {
  const admit = limited({ bot });
  const from = (address: string) => ({ 'x-forwarded-for': address });
  expect(admit('bot', { address: 'unix', headers: from('203.0.113.7') })).toBe(true);
  expect(() => admit('bot', { address: '127.0.0.1', headers: from('203.0.113.7') })).toThrow(RateLimitException);
  expect(admit('bot', { address: '127.0.0.1', headers: from('203.0.113.8') })).toBe(true);
});

test.each([
  ['no address', { address: null }],
  ['what is not an address', { address: 'somewhere' }],
])('%s is an error where a limit is by address', (_name, own) => {
  expect(() => limited({ bot })('bot', own)).toThrow(/^The request has no client address/);
});

test('what a resolver returns for a denied request is thrown', () => {
  const thrown = (exception: RateLimitException): Error => new Error(`wait ${exception.retryAfterSeconds} s`);
  const admit = limited({ bot: () => ({ address: '203.0.113.7', thrown }) });
  expect(admit('bot', {})).toBe(true);
  expect(() => admit('bot', {})).toThrow('wait 60 s');
});

test('a resolver whose request is not one of a platform is an error', () => {
  const admit = limited({ bot: httpContext });
  expect(() => admit('bot', { args: [{}, {}] })).toThrow(
    /^The resolver `contexts.bot` must find a request and a response of Express or Fastify, but found others/,
  );
});

test('over a transport without addresses, a limit by address is an error', () => {
  const admit = limited({ rpc: microserviceContext(RpcException) });
  expect(() => admit('rpc', { args: [{}, {}] })).toThrow(/^The request has no client address/);
  expect(() => admit('rpc', {})).toThrow(/^The request has no client address/);
});
