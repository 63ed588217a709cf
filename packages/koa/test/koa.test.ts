import { rateLimit } from '@sluice/koa';
import type { Context } from 'koa';
import { expect, test } from 'vitest';
import { inline, serve } from './serve.ts';

test('a middleware before the limits sees the denial, and may replace it', async () => {
  const get = await serve(async (ctx, next) => {
    await next();
    if (ctx.status === 429) ctx.body = 'later';
  }, rateLimit(inline()), (ctx) => { ctx.body = 'ok'; }); // prettier-ignore
  expect(await (await get()).text()).toBe('ok');
  const refused = await get();
  expect(refused.status).toBe(429);
  expect(await refused.text()).toBe('later');
});

test('the decision is in the state', async () => {
  const get = await serve(rateLimit(inline({ count: 5 })), (ctx: Context) => {
    ctx.body = `${ctx.state['rateLimit']?.remaining}`;
  });
  expect(await (await get()).text()).toBe('4');
});

test('an onDenied that throws by ctx.throw answers with the fields', async () => {
  const onDenied = (ctx: Context): never => ctx.throw(418, 'calm');
  const get = await serve(rateLimit(inline({ onDenied })), (ctx) => {
    ctx.body = 'ok';
  });
  await get();
  const { status, headers } = await get();
  expect(status).toBe(418);
  expect(headers.get('retry-after')).toBe('60');
});

test('a request that was answered before is left unchanged, also when it is denied', async () => {
  const get = await serve(
    async (ctx, next) => {
      ctx.respond = false;
      ctx.res.end('first');
      await next();
    },
    rateLimit(inline()),
    () => undefined,
  );
  expect(await (await get()).text()).toBe('first');
  expect(await (await get()).text()).toBe('first');
});

test('a denied request whose response Koa leaves to a middleware before the limits is answered', async () => {
  const get = await serve(
    (ctx, next) => {
      ctx.respond = false;
      return next();
    },
    rateLimit(inline()),
    (ctx) => void ctx.res.end('own'),
  );
  expect(await (await get()).text()).toBe('own');
  const { status, headers } = await get();
  expect([status, headers.get('retry-after')]).toEqual([429, '60']);
});

test('with fields: false an allowed request leaves Koa as it is', async () => {
  const get = await serve(rateLimit(inline({ fields: false })), (ctx) => {
    ctx.body = `${Object.hasOwn(ctx, 'onerror')} ${Object.hasOwn(ctx.res, 'writeHead')}`;
  });
  expect(await (await get()).text()).toBe('false false');
});
