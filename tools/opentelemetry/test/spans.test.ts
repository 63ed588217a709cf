import { once } from 'node:events';
import type { Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { context, SpanStatusCode, type Tracer } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { InMemorySpanExporter, SimpleSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import { accountId, createLimiter, memoryStore, type Limiter, type Store } from '@sluice/core';
import { storeGuard } from '@sluice/core/store';
import { rateLimit } from '@sluice/express';
import { rateLimit as fastifyRateLimit } from '@sluice/fastify';
import { spans } from '@sluice/opentelemetry';
import express from 'express';
import Fastify from 'fastify';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';

beforeAll(() => {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
});

function traced() {
  const exporter = new InMemorySpanExporter();
  const tracerProvider = new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] });
  const stop = spans(tracerProvider);
  onTestFinished(stop);
  return { exporter, tracerProvider, stop };
}

/** The memory store with promises. */
function later(): Store {
  const inner = memoryStore();
  return { guard: storeGuard, run: async (operation) => inner.run(operation), close: () => inner.close() };
}

function limiterOn(store: Store | undefined): Limiter {
  return createLimiter({
    limits: { Orders: { key: accountId(() => '7'), count: 1, period: '1h' } },
    store,
    log: false,
  }) as Limiter;
}

const orders = [{ limit: 'Orders', id: '7' }];

test('a decision that takes time is a span, with its limits, its outcome and its wait', async () => {
  const { exporter } = traced();
  const limiter = limiterOn(later());
  await limiter.spend(orders);
  await limiter.spend(orders);
  expect(exporter.getFinishedSpans().map(({ name, attributes }) => ({ name, ...attributes }))).toEqual([
    { name: 'sluice decide', 'sluice.limits': ['Orders'], 'sluice.limit': 'Orders', 'sluice.outcome': 'allowed' },
    {
      name: 'sluice decide',
      'sluice.limits': ['Orders'],
      'sluice.limit': 'Orders',
      'sluice.outcome': 'denied',
      'sluice.retry_after': expect.any(Number) as number,
    },
  ]);
});

test('a decision by a failure policy names it', async () => {
  const { exporter } = traced();
  await limiterOn({ guard: storeGuard, run: () => Promise.reject(new Error('down')), close: () => undefined }).spend(
    orders,
  );
  expect(exporter.getFinishedSpans()[0]!.attributes).toMatchObject({ 'sluice.policy': 'local' });
});

test('a decision that fails is a span with an error', async () => {
  const { exporter } = traced();
  const limiter = limiterOn(later());
  await expect(limiter.spend([{ limit: 'Orders', id: '7', cost: 5 }])).rejects.toThrow('cost');
  expect(exporter.getFinishedSpans()[0]!.status.code).toBe(SpanStatusCode.ERROR);
});

test('a decision of the memory store is no span', () => {
  const { exporter } = traced();
  limiterOn(undefined).spendSync(orders);
  expect(exporter.getFinishedSpans()).toEqual([]);
});

test('there are no spans after the end, which can be repeated', async () => {
  const { exporter, stop } = traced();
  stop();
  stop();
  await limiterOn(later()).spend(orders);
  expect(exporter.getFinishedSpans()).toEqual([]);
});

/** An app that listens, in which each request is a span. */
type App = (limiter: Limiter, tracer: Tracer) => Promise<Server>;

const frameworks: Readonly<Record<string, App>> = {
  async Express(limiter, tracer) {
    const app = express();
    app.use((_req, res, next) => inSpan(tracer, res, next));
    app.use(rateLimit({ limiter }), (_req, res) => void res.send('ok'));
    const server = app.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return server;
  },
  async Fastify(limiter, tracer) {
    const app = Fastify();
    app.addHook('onRequest', (_request, reply, next) => inSpan(tracer, reply.raw, next));
    await app.register(fastifyRateLimit, { limiter });
    app.get('/', () => 'ok');
    await app.listen({ host: '127.0.0.1', port: 0 });
    return app.server;
  },
};

function inSpan(tracer: Tracer, response: ServerResponse, next: () => void): void {
  tracer.startActiveSpan('request', (span) => {
    response.on('finish', () => span.end());
    next();
  });
}

describe.each(Object.entries(frameworks))('under %s', (_name, listening) => {
  /** The spans of a request. */
  async function spansOfRequest(store: Store | undefined) {
    const { exporter, tracerProvider } = traced();
    const server = await listening(limiterOn(store), tracerProvider.getTracer('test'));
    onTestFinished(() => void server.close());
    const response = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    expect(await response.text()).toBe('ok');
    return exporter.getFinishedSpans();
  }

  test('a span is a child of that of the request', async () => {
    const [decided, request] = await spansOfRequest(later());
    expect([decided?.name, request?.name]).toEqual(['sluice decide', 'request']);
    expect(decided?.parentSpanContext?.spanId).toBe(request?.spanContext().spanId);
  });

  test('there is no span for a decision of the memory store', async () => {
    expect((await spansOfRequest(undefined)).map(({ name }) => name)).toEqual(['request']);
  });
});

test('a value that is not a tracer provider is rejected', () => {
  expect(() => spans({} as never)).toThrow('`spans` must be given a TracerProvider.');
});
