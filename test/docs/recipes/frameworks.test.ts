import {
  Controller,
  Get,
  Module,
  Post,
  RequestMethod,
  type MiddlewareConsumer,
  type NestModule,
  type OnApplicationShutdown,
  type Type,
} from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { accountId, createLimiter } from '@sluice/core';
import { limitNode } from '@sluice/node';
import type { IncomingMessage, RequestListener } from 'node:http';
import { describe, expect, it, onTestFinished } from 'vitest';
import { limitClients, OrdersModule } from './nest-express.ts';
import * as handlers from '../code/recipes/fetch-handlers.ts';
import { serve } from '../serve.ts';
import * as fastify from './nest-fastify.ts';

// The decorators of Nest, called as functions: this repository compiles without the option that Nest needs.
class ShopController {
  hello(): string {
    return 'hello';
  }
  order(): string {
    return 'ordered';
  }
}
decorate(Get('/'), 'hello');
decorate(Post('/orders'), 'order');
decorate(fastify.LimitOrders, 'order');
Controller()(ShopController);
Module({ controllers: [ShopController] })(OrdersModule);

// oxlint-disable-next-line no-extraneous-class -- what a module of Nest is
class ShopModule {}
Module({ controllers: [ShopController] })(ShopModule);

const ofClient = /^"RequestsPerClient";r=\d+;t=\d+$/;

describe('NestJS on Express', () => {
  it('limits all routes, 404s too, and answers with the fields', async () => {
    const url = await startOnExpress();
    const hello = await fetch(url);
    expect([hello.status, await hello.text()]).toEqual([200, 'hello']);
    expect(hello.headers.get('RateLimit')).toMatch(ofClient);
    expect((await fetch(`${url}/nothing`)).headers.get('RateLimit')).toMatch(ofClient);
  });

  it('limits the routes of a module by their body', async () => {
    const url = await startOnExpress();
    expect(await orders(url, 11, 'acme')).toEqual([...Array.from({ length: 10 }, () => 201), 429]);
    expect(await orders(url, 1, 'other')).toEqual([201]);
  });

  it('answers 400 to an id that is not valid', async () => {
    expect(await orders(await startOnExpress(), 1, 'x'.repeat(300))).toEqual([400]);
  });
});

describe('graceful shutdown of NestJS', () => {
  it('onApplicationShutdown runs after the last response', async () => {
    const happened: string[] = [];
    let began = (): void => {};
    let finish = (): void => {};
    const handlerRuns = new Promise<void>((resolve) => (began = resolve));
    class SlowModule implements NestModule, OnApplicationShutdown {
      configure(consumer: MiddlewareConsumer): void {
        const slow: RequestListener = (_req, res) => {
          finish = () => res.end(() => happened.push('answered'));
          began();
        };
        consumer.apply(slow).forRoutes({ path: '', method: RequestMethod.GET });
      }
      onApplicationShutdown(): void {
        happened.push('shut down');
      }
    }
    Module({ controllers: [ShopController] })(SlowModule);
    const app = await NestFactory.create(SlowModule, { logger: false });
    await app.listen(0, '127.0.0.1');
    const answer = fetch(await app.getUrl());
    await handlerRuns;
    const closed = app.close();
    finish();
    expect((await answer).status).toBe(200);
    await closed;
    expect(happened).toEqual(['answered', 'shut down']);
  });
});

describe.each([
  ['Express', () => startOnExpress()],
  ['Fastify', () => startOnFastify()],
])('the status page of NestJS on %s', (_platform, start) => {
  it('shows a client what it has left, and takes nothing', async () => {
    const url = await start();
    const left = async () => {
      const page = (await (await fetch(`${url}/rate_limit`)).json()) as {
        limits: Record<string, { remaining: number }>;
      };
      return page.limits['RequestsPerClient']!.remaining;
    };
    const changes = async () => {
      const before = await left();
      const again = await left();
      await fetch(url);
      return [again - before, (await left()) - before];
    };
    // A token comes back every 600 ms: on a busy machine perhaps amid four requests, but not each time.
    await expect.poll(changes).toEqual([0, -1]);
  });
});

describe('NestJS on Fastify', () => {
  it('limits all routes, 404s too', async () => {
    const url = await startOnFastify();
    const hello = await fetch(url);
    expect([hello.status, await hello.text()]).toEqual([200, 'hello']);
    expect(hello.headers.get('RateLimit')).toMatch(ofClient);
    expect((await fetch(`${url}/nothing`)).headers.get('RateLimit')).toMatch(ofClient);
  });

  it('limits one route by its body, and by the limit of all routes', async () => {
    const url = await startOnFastify();
    expect(await orders(url, 11, 'acme')).toEqual([...Array.from({ length: 10 }, () => 201), 429]);
    const { headers } = await post(url, 'other');
    expect(headers.get('RateLimit-Policy')).toMatch(/"RequestsPerClient".*"OrdersPerAccount"/);
  });

  it('answers 400 to an id that is not valid', async () => {
    expect(await orders(await startOnFastify(), 1, 'x'.repeat(300))).toEqual([400]);
  });
});

describe('handlers of Request and Response', () => {
  const from = (path: string, init: RequestInit = {}): Request =>
    new Request(`http://localhost${path}`, {
      headers: { 'x-real-ip': '192.0.2.7', 'X-API-Key': 'key-of-acme' },
      ...init,
    });

  it('a route handler of Next.js answers, and its response has the fields', async () => {
    const response = await handlers.POST(from('/orders', { method: 'POST', body: '{"a":1}' }));
    expect([response.status, await response.json()]).toEqual([201, { a: 1 }]);
    expect(response.headers.get('RateLimit')).toMatch(/^"CallsPerClient";r=\d+;t=\d+, "CallsPerAccount";r=\d+;t=\d+$/);
  });

  it('a batch of tRPC costs a token for each call, however its commas are written', async () => {
    const trpc = handlers.limitTrpc(() => new Response('[]'));
    const left = async (path: string): Promise<number> =>
      Number(/"CallsPerAccount";r=(\d+)/.exec((await trpc(from(path))).headers.get('RateLimit') ?? '')?.[1]);
    const before = await left('/api/trpc/users.me');
    expect(before - (await left('/api/trpc/orders.list,users.me%2Cusers.all?batch=1'))).toBe(3);
  });
});

describe('Next.js pages API routes', () => {
  const limiter = createLimiter({
    limits: {
      Orders: {
        key: accountId((req: IncomingMessage & { query: { account?: string } }) => req.query.account as string),
        count: 1,
        period: '1h',
      },
    },
  });
  const route = limitNode({ limiter })((_req, res) => void res.end('ordered'));
  /** What Next does before it calls a route. */
  const asNext = () =>
    serve((req, res) => {
      const query = Object.fromEntries(new URL(req.url ?? '/', 'http://localhost').searchParams);
      void route(Object.assign(req, { query }), res);
    });

  it('a handler runs within the limit, and beyond it the client gets a 429', async () => {
    const url = await asNext();
    const [first, second] = [await fetch(`${url}?account=7`), await fetch(`${url}?account=7`)];
    expect([first.status, await first.text()]).toEqual([200, 'ordered']);
    expect([second.status, second.headers.get('Retry-After')]).toEqual([429, '3600']);
  });

  it('an id that is not valid is a 400, and another error of the key a 500', async () => {
    const url = await asNext();
    expect((await fetch(`${url}?account=${'x'.repeat(300)}`)).status).toBe(400);
    // The key gives `undefined`.
    expect((await fetch(url)).status).toBe(500);
  });
});

function decorate(decorator: MethodDecorator, name: 'hello' | 'order'): void {
  decorator(ShopController.prototype, name, Object.getOwnPropertyDescriptor(ShopController.prototype, name)!);
}

async function startOnExpress(): Promise<string> {
  const app = await NestFactory.create(OrdersModule as Type, { logger: false });
  onTestFinished(() => app.close());
  limitClients(app);
  await app.listen(0, '127.0.0.1');
  return app.getUrl();
}

async function startOnFastify(): Promise<string> {
  const app = await NestFactory.create<NestFastifyApplication>(ShopModule, new FastifyAdapter(), { logger: false });
  onTestFinished(() => app.close());
  await fastify.limitClients(app);
  await app.listen(0, '127.0.0.1');
  return app.getUrl();
}

function post(url: string, account: string): Promise<Response> {
  const body = JSON.stringify({ account });
  return fetch(`${url}/orders`, { method: 'POST', body, headers: { 'Content-Type': 'application/json' } });
}

/** The statuses of orders, one after the other. */
async function orders(url: string, count: number, account: string): Promise<number[]> {
  const statuses: number[] = [];
  for (let i = 0; i < count; i++) statuses.push((await post(url, account)).status);
  return statuses;
}
