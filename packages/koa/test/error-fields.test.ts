import { accountId } from '@sluice/core';
import { rateLimit, type RateLimitOptions } from '@sluice/koa';
import Koa, { type Context } from 'koa';
import { describe, expect, test } from 'vitest';
import { inline, serve, serveApp } from './serve.ts';

test('fields reach what ctx.throw answers, and keep its own', async () => {
  const get = await serve(rateLimit(inline()), (ctx) => ctx.throw(404, 'gone', { headers: { 'X-Own': 'kept' } }));
  const { status, headers } = await get();
  expect(status).toBe(404);
  expect(headers.get('ratelimit')).toBe('"Requests";r=0;t=60');
  expect(headers.get('ratelimit-policy')).toBe('"Requests";q=1;w=60');
  expect(headers.get('x-own')).toBe('kept');
  expect(headers.has('retry-after')).toBe(false);
});

test('all middlewares of a request wrap ctx.onerror once', async () => {
  const seen = new Set<unknown>();
  const see: Koa.Middleware = (ctx, next) => (seen.add(Reflect.get(ctx, 'onerror')), next());
  const [a, b] = [rateLimit(inline({ name: 'A' })), rateLimit(inline({ name: 'B' }))];
  const get = await serve(see, a, see, b, see, (ctx) => void (ctx.body = 'ok'));
  expect((await get()).status).toBe(200);
  expect(seen.size).toBe(2);
});

test('a field that the error names itself stays', async () => {
  const get = await serve(rateLimit(inline()), (ctx) => ctx.throw(503, { headers: { 'RateLimit': '"Own";r=1' } })); // prettier-ignore
  expect((await get()).headers.get('ratelimit')).toBe('"Own";r=1');
});

test('fields of several middlewares reach an error together', async () => {
  const get = await serve(rateLimit(inline({ name: 'A' })), rateLimit(inline({ name: 'B' })), (ctx) => ctx.throw(404));
  expect((await get()).headers.get('ratelimit')).toBe('"A";r=0;t=60, "B";r=0;t=60');
});

test('a thrown value is passed on unchanged: frozen errors, and values that are not errors', async () => {
  for (const thrown of [Object.freeze(new Error('frozen')), 'text', { status: 418 }]) {
    let caught: unknown;
    const get = await serve(
      async (ctx, next) => {
        await next().catch((error: unknown) => (caught = error));
        ctx.body = 'caught';
      },
      rateLimit(inline()),
      () => {
        throw thrown;
      },
    );
    expect((await get()).status).toBe(200);
    expect(caught).toBe(thrown);
  }
});

describe('an error that is thrown on several requests', () => {
  const key = accountId((ctx: Context) => ctx.get('X-User'));
  const perUser = (name: string, count: number): RateLimitOptions => inline({ name, key, count });

  test('carries the fields of its own request each time', async () => {
    const constant = Object.assign(new Error('gone'), { status: 410 });
    const get = await serve(rateLimit(perUser('A', 6)), rateLimit(perUser('B', 3)), () => {
      throw constant;
    });
    const told: unknown[] = [];
    for (const user of ['ann', 'ann', 'bob', 'ann', 'bob']) {
      const { status, headers } = await get(user);
      told.push([status, headers.get('ratelimit')]);
    }
    expect(told).toEqual([
      [410, '"A";r=5;t=10, "B";r=2;t=20'],
      [410, '"A";r=4;t=10, "B";r=1;t=20'],
      [410, '"A";r=5;t=10, "B";r=2;t=20'],
      [410, '"A";r=3;t=10, "B";r=0;t=20'],
      [410, '"A";r=4;t=10, "B";r=1;t=20'],
    ]);
  });

  test('keeps its own headers, and has no field of ours where no limit applies', async () => {
    const constant = Object.assign(new Error('gone'), { status: 410, headers: { 'X-Own': 'kept' } });
    const limited = accountId((ctx: Context) => ctx.get('X-User') || null);
    const get = await serve(rateLimit(inline({ key: limited, count: 5 })), () => {
      throw constant;
    });
    for (const [user, told] of [
      ['ann', '"Requests";r=4;t=12'],
      [undefined, null],
      ['bob', '"Requests";r=4;t=12'],
    ] as const) {
      const { headers } = await get(user);
      expect([headers.get('ratelimit'), headers.get('x-own')]).toEqual([told, 'kept']);
    }
  });
});

test('headers that a handler gives to an error for each request are those that are answered', async () => {
  const error = Object.assign(new Error('gone'), { status: 410, headers: {} });
  let request = 0;
  const get = await serve(rateLimit(inline({ count: 5 })), () => {
    error.headers = { 'X-Request': `${++request}` };
    throw error;
  });
  for (const [number, remaining] of [
    ['1', 4],
    ['2', 3],
  ] as const) {
    const { headers } = await get();
    expect([headers.get('x-request'), headers.get('ratelimit')]).toEqual([number, `"Requests";r=${remaining};t=12`]);
  }
});

test('a field that an error sets itself stays on each request, also where ours is the same or was set before', async () => {
  const same = Object.assign(new Error('gone'), { status: 410, headers: { RateLimit: '"Requests";r=4;t=12' } });
  const later = Object.assign(new Error('gone'), { status: 410, headers: {} });
  for (const error of [same, later]) {
    const get = await serve(rateLimit(inline({ count: 5 })), () => {
      throw error;
    });
    expect((await get()).headers.get('ratelimit')).toBe('"Requests";r=4;t=12');
    if (error === later) later.headers = { RateLimit: '"Own";r=1' };
    expect((await get()).headers.get('ratelimit')).toBe(error === later ? '"Own";r=1' : '"Requests";r=4;t=12');
  }
});

test('headers that a middleware between two limits adds to an error stay', async () => {
  const add = (_ctx: Context, next: Koa.Next): Promise<unknown> =>
    next().catch((error: Error) => {
      throw Object.assign(error, { headers: { 'X-Between': 'kept' } });
    });
  const get = await serve(rateLimit(inline({ name: 'A' })), add, rateLimit(inline({ name: 'B' })), (ctx) =>
    ctx.throw(404),
  );
  const { headers } = await get();
  expect([headers.get('ratelimit'), headers.get('x-between')]).toEqual(['"A";r=0;t=60, "B";r=0;t=60', 'kept']);
});

test.each([
  [
    'a getter',
    class extends Error {
      status = 418;
      get headers(): object {
        return { 'X-Own': 'kept' };
      }
    },
  ],
  [
    'read-only',
    class extends Error {
      status = 418;
      constructor() {
        super();
        Object.defineProperty(this, 'headers', { value: { 'X-Own': 'kept' }, configurable: true });
      }
    },
  ],
  [
    'read-only for good',
    class extends Error {
      status = 418;
      constructor() {
        super();
        Object.defineProperty(this, 'headers', { value: { 'X-Own': 'kept' } });
      }
    },
  ],
])('an error stays the one that is answered, where its headers are %s', async (_what, Failure) => {
  const error = new Failure();
  let caught: unknown;
  const get = await serve(
    (_ctx, next) =>
      next().catch((failure: unknown) => {
        caught = failure;
        throw failure;
      }),
    rateLimit(inline()),
    () => {
      throw error;
    },
  );
  const { status, headers } = await get();
  expect(status).toBe(418);
  expect(headers.get('x-own')).toBe('kept');
  expect(caught).toBe(error);
});

describe('fields reach the answer', () => {
  const FIELDS = '"Requests";r=0;t=60';

  test('of a thrown value that is not an error', async () => {
    const get = await serve(rateLimit(inline()), () => {
      throw { status: 418 };
    });
    const { status, headers } = await get();
    expect([status, headers.get('ratelimit')]).toEqual([500, FIELDS]);
  });

  test('of an error that a middleware before the limits throws afterwards', async () => {
    const get = await serve(async (ctx, next) => {
      await next();
      ctx.throw(418);
    }, rateLimit(inline()));
    const { status, headers } = await get();
    expect([status, headers.get('ratelimit')]).toEqual([418, FIELDS]);
  });

  test('of an app.context.onerror of the user, which gets the context and the error as they are', async () => {
    const app = new Koa();
    const seen: unknown[] = [];
    const error = new Error('boom');
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- it is a method of the context
    app.context.onerror = function (this: Context, failure: Error) {
      // Koa calls it with null when a response is over.
      if (failure === null) return;
      seen.push(this.path, failure);
      for (const name of this.res.getHeaderNames()) this.res.removeHeader(name);
      this.res.statusCode = 418;
      this.res.end('calm');
    };
    const get = await serveApp(app, rateLimit(inline()), () => {
      throw error;
    });
    const { status, headers } = await get();
    expect([status, headers.get('ratelimit')]).toEqual([418, FIELDS]);
    expect(seen).toEqual(['/', error]);
  });

  test('unless the handler removed them', async () => {
    const get = await serve(rateLimit(inline()), (ctx) => {
      ctx.remove('RateLimit');
      ctx.throw(418);
    });
    const { status, headers } = await get();
    expect([status, headers.get('ratelimit')]).toEqual([418, null]);
    expect(headers.has('ratelimit-policy')).toBe(true);
  });
});

test.each([{}, { fields: false }])('an upstream error keeps the headers that fetch gave it: %o', async (options) => {
  const failure = Object.assign(new Error('upstream'), { headers: new Headers({ 'X-Upstream': 'kept' }) });
  const get = await serve(
    async (ctx, next) => {
      await next().catch((error: typeof failure) => (ctx.body = error.headers.get('X-Upstream')));
    },
    rateLimit(inline(options)),
    () => {
      throw failure;
    },
  );
  expect(await (await get()).text()).toBe('kept');
});
