import { accountId, createLimiter, memoryStore } from '@sluice/core';
import { FakeTime } from '@sluice/core/testing';
import { rateLimit, type RateLimitOptions } from '@sluice/express';
import express, { type Express, type NextFunction, type Request, type Response } from 'express';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';

const inline = (options: Partial<RateLimitOptions> = {}): RateLimitOptions =>
  ({ name: 'Requests', count: 1, period: '1m', store: memoryStore({ time: new FakeTime() }), ...options }) as never;

async function serve(app: Express): Promise<(path: string) => Promise<globalThis.Response>> {
  const server = app.listen(0);
  onTestFinished(() => void server.close());
  await new Promise((resolve) => server.once('listening', resolve));
  return (path) => fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`);
}

async function statuses(get: (path: string) => Promise<globalThis.Response>, ...paths: string[]): Promise<number[]> {
  const all: number[] = [];
  for (const path of paths) all.push((await get(path)).status);
  return all;
}

test('of two denials the longer wait is reported, also when the first calls next', async () => {
  const app = express();
  const onDenied = (_req: Request, _res: Response, next: NextFunction): void => next();
  app.use(rateLimit(inline({ name: 'Slow', period: '1h', onDenied })), rateLimit(inline({ name: 'Fast' })));
  app.get('/', (_req, res) => void res.send('ok'));
  const get = await serve(app);
  await get('/');
  const { status, headers } = await get('/');
  expect(status).toBe(429);
  expect(headers.get('retry-after')).toBe('3600');
});

test('a router limits what is mounted below it, under any path', async () => {
  const app = express();
  const router = express.Router();
  router.use(rateLimit(inline()));
  router.get('/items', (_req, res) => void res.send('ok'));
  app.use('/v1', router);
  app.use('/v2', router);
  app.get('/open', (_req, res) => void res.send('ok'));
  const get = await serve(app);
  expect(await statuses(get, '/v1/items', '/v2/items', '/v1/nowhere', '/open')).toEqual([200, 429, 429, 200]);
});

test('a denied request reaches neither the next route nor middleware mounted after it', async () => {
  const app = express();
  app.get('/', rateLimit(inline()), (_req, res) => void res.send('limited'));
  app.use((_req, res) => void res.send('behind'));
  const get = await serve(app);
  expect(await (await get('/')).text()).toBe('limited');
  expect((await get('/')).status).toBe(429);
});

test('an onDenied may let a request go on, or end it by an error', async () => {
  const app = express();
  app.get('/on', rateLimit(inline({ onDenied: (_req, _res, next) => next() })), (_req, res) => void res.send('ok'));
  app.get('/error', rateLimit(inline({ onDenied: (_req, _res, next) => next(new Error('no')) })), (_req, res) => void res.send('ok')); // prettier-ignore
  app.use((_error: Error, _req: Request, res: Response, _next: NextFunction) => void res.status(418).send('failed'));
  const get = await serve(app);
  expect(await statuses(get, '/on', '/on', '/error', '/error')).toEqual([200, 200, 200, 418]);
});

test('a request that was answered before is left unchanged, also when it is denied', async () => {
  const app = express();
  app.use((_req, res, next) => {
    res.send('first');
    next();
  });
  app.use(rateLimit(inline()));
  const errors: unknown[] = [];
  app.use((error: Error, _req: Request, _res: Response, _next: NextFunction) => void errors.push(error));
  const get = await serve(app);
  expect(await statuses(get, '/', '/')).toEqual([200, 200]);
  expect(errors).toEqual([]);
});

test('a response that takes no field ends the request by an error', async () => {
  const app = express();
  app.use((_req, res, next) => {
    const setHeader = res.setHeader.bind(res);
    res.setHeader = (name, value) => {
      if (name === 'RateLimit') throw new Error('frozen');
      return setHeader(name, value);
    };
    next();
  });
  app.use(rateLimit(inline()));
  app.use(
    (error: Error, _req: Request, res: Response, _next: NextFunction) => void res.status(418).send(error.message),
  );
  const get = await serve(app);
  expect(await (await get('/')).text()).toBe('frozen');
});

test('an error behind a middleware that waited reaches the error handler once', async () => {
  const errors: unknown[] = [];
  const app = express();
  app.use(rateLimit(inline({ key: accountId(async () => 'ann'), count: 5 })));
  app.get('/', () => {
    throw new Error('boom');
  });
  app.use((error: Error, _req: Request, res: Response, _next: NextFunction) => {
    errors.push(error);
    res.status(418).send('failed');
  });
  const get = await serve(app);
  expect(await statuses(get, '/')).toEqual([418]);
  expect(errors).toHaveLength(1);
});

test('a middleware that is made inside a request handler is warned of, once, with the remedy', async () => {
  const lines: string[] = [];
  const options = { count: 1, period: '1m', log: (line: string) => lines.push(line) };
  const app = express();
  app.get('/inside', (req, res, next) => rateLimit({ name: 'Inside', ...options })(req, res, next));
  app.get('/outside', rateLimit({ name: 'Outside', ...options }));
  app.use((_req, res) => void res.send('ok'));
  const get = await serve(app);
  for (let i = 0; i < 20; i++) await Promise.all([get('/inside'), get('/outside')]);
  expect(lines).toHaveLength(1);
  expect(lines[0]).toContain('outside of the request handler');
});

test('rateLimit that Express itself calls is an error that says what to call it with', async () => {
  const app = express();
  app.use(rateLimit as never);
  app.use(
    (error: Error, _req: Request, res: Response, _next: NextFunction) => void res.status(500).send(error.message),
  );
  const get = await serve(app);
  expect(await (await get('/')).text()).toMatch(
    /^`rateLimit` must be an object of options, but was .*IncomingMessage .*\. For example rateLimit\(\{ count: 100, period: '1m' \}\)\.$/,
  );
});

test('a limiter in place of the options is an error that shows where it belongs', () => {
  const limiter = createLimiter({ limits: { PerUser: { key: accountId(), count: 1, period: '1m' } } });
  expect(() => rateLimit(limiter as never)).toThrow(
    "`rateLimit` must be an object of options, but was a limiter. Write rateLimit({ limiter, limits: ['Name'] }).",
  );
});
