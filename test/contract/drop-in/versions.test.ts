import { rateLimitStore, type RateLimitStore } from '@sluice/drop-in/express-rate-limit';
import { FakeTime } from '@sluice/core/testing';
import express, { type Express, type RequestHandler } from 'express';
import { rateLimit as rateLimit8 } from 'express-rate-limit';
import { rateLimit as rateLimit6 } from 'express-rate-limit6';
import { rateLimit as rateLimit7 } from 'express-rate-limit7';
import request from 'supertest';
import { describe, expect, onTestFinished, test, vi } from 'vitest';

interface Options {
  readonly windowMs: number;
  readonly skipFailedRequests?: boolean;
  readonly store: RateLimitStore;
}

/** With 3 requests in a window. */
const VERSIONS: readonly (readonly [version: number, limiter: (options: Options) => RequestHandler])[] = [
  [6, (options) => rateLimit6({ ...options, max: 3 })],
  [7, (options) => rateLimit7({ ...options, limit: 3 })],
  [8, (options) => rateLimit8({ ...options, limit: 3 })],
];

describe.each(VERSIONS)('behind express-rate-limit %i', (_version, limiter) => {
  const served = (
    options: Pick<Options, 'skipFailedRequests'> = {},
  ): { readonly app: Express; readonly time: FakeTime } => {
    // The limiter compares the dates of the store with the clock of the process.
    vi.useFakeTimers({ toFake: ['Date'] });
    onTestFinished(() => void vi.useRealTimers());
    const time = new FakeTime(Date.now());
    const store = rateLimitStore({ time, log: false });
    onTestFinished(() => store.shutdown());
    const app = express();
    app.use(limiter({ ...options, windowMs: 60_000, store }));
    app.get('/:status', (req, res) => void res.status(Number(req.params.status)).end());
    return { app, time };
  };
  const statuses = async (app: Express, paths: readonly string[]): Promise<number[]> => {
    const all: number[] = [];
    // oxlint-disable-next-line no-await-in-loop -- one after another
    for (const path of paths) all.push((await request(app).get(path)).status);
    return all;
  };

  test('the limit passes at once, then one request for each part of the window, and the wait is exact', async () => {
    const { app, time } = served();
    expect(await statuses(app, ['/200', '/200', '/200'])).toEqual([200, 200, 200]);
    const denied = await request(app).get('/200');
    expect(denied.status).toBe(429);
    expect(denied.headers).toMatchObject({
      'x-ratelimit-limit': '3',
      'x-ratelimit-remaining': '0',
      'retry-after': '20',
    });
    time.advance(20_000);
    expect(await statuses(app, ['/200', '/200'])).toEqual([200, 429]);
  });

  test('a request that fails is given back, and a denied one gives nothing back', async () => {
    const { app } = served({ skipFailedRequests: true });
    expect(
      await statuses(
        app,
        Array.from({ length: 5 }, () => '/500'),
      ),
    ).toEqual([500, 500, 500, 500, 500]);
    expect(await statuses(app, ['/200', '/200', '/200'])).toEqual([200, 200, 200]);
    expect(
      new Set(
        await statuses(
          app,
          Array.from({ length: 10 }, () => '/200'),
        ),
      ),
    ).toEqual(new Set([429]));
  });
});
