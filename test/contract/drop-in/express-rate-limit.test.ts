import { memoryStore, SluiceError, type LimiterEvent, type Store } from '@sluice/core';
import { FakeTime } from '@sluice/core/testing';
import {
  rateLimitStore,
  type RateLimitConfig,
  type RateLimitStore,
  type RateLimitStoreOptions,
} from '@sluice/drop-in/express-rate-limit';
import { AsyncResource } from 'node:async_hooks';
import express, { type Express } from 'express';
import fc from 'fast-check';
import { MemoryStore, rateLimit, type Options } from 'express-rate-limit';
import { Hono } from 'hono';
import { rateLimiter } from 'hono-rate-limiter';
import request from 'supertest';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { sized } from '../../sized.ts';

/** A store on a clock that stands still. */
function still(options: RateLimitStoreOptions = {}): { readonly store: RateLimitStore; readonly time: FakeTime } {
  // The limiter compares the dates of the store with the clock of the process.
  const time = new FakeTime(Date.now());
  const store = rateLimitStore({ time, log: false, ...options });
  onTestFinished(() => store.shutdown());
  return { store, time };
}

const MINUTE = { windowMs: 60_000, limit: 3 };
const quiet = { error: () => {}, warn: () => {} };

/** An application of express-rate-limit. The client is the header `x-client`, and the answer's status `x-status`. */
function served(store: RateLimitStore, options: Partial<Options> = {}): Express {
  const app = express();
  const keyGenerator: Options['keyGenerator'] = (req) => req.get('x-client') ?? 'someone';
  app.use(rateLimit({ ...MINUTE, keyGenerator, standardHeaders: true, logger: quiet, ...options, store }));
  app.get('/', (req, res) => void res.status(Number(req.get('x-status') ?? 200)).end('hello'));
  return app;
}

/** The statuses of requests one after another. */
async function statuses(app: Express, count: number, headers: Record<string, string> = {}): Promise<number[]> {
  const all: number[] = [];
  // oxlint-disable-next-line no-await-in-loop -- one after another
  for (let i = 0; i < count; i++) all.push((await request(app).get('/').set(headers)).status);
  return all;
}

describe('behind express-rate-limit', () => {
  test('the limit passes at once, and then one request for each part of the window', async () => {
    const { store, time } = still();
    const app = served(store);
    expect(await statuses(app, 4)).toEqual([200, 200, 200, 429]);
    time.advance(19_999);
    expect(await statuses(app, 1)).toEqual([429]);
    time.advance(1);
    expect(await statuses(app, 2)).toEqual([200, 429]);
  });

  test('the fields count what is left, and until the bucket is full', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    onTestFinished(() => void vi.useRealTimers());
    const { store } = still();
    const { headers } = await request(served(store)).get('/');
    expect(headers).toMatchObject({ 'ratelimit-limit': '3', 'ratelimit-remaining': '2', 'ratelimit-reset': '20' });
  });

  test('resetKey fills a bucket, and getKey reads it without taking anything', async () => {
    const { store, time } = still();
    const limiter = rateLimit({ ...MINUTE, store });
    expect(await limiter.getKey('203.0.113.7')).toBeUndefined();
    await store.increment('203.0.113.7');
    const info = { totalHits: 1, resetTime: new Date(time.wallNow() + 20_000) };
    expect(await limiter.getKey('203.0.113.7')).toEqual(info);
    expect(await limiter.getKey('203.0.113.7')).toEqual(info);
    await limiter.resetKey('203.0.113.7');
    expect(await limiter.getKey('203.0.113.7')).toBeUndefined();
  });

  test('a limit that is a function of the request is decided by the same function of the key', async () => {
    const { store } = still({ limit: (key) => (key === 'pro' ? 2 : 1) });
    const app = served(store, { limit: (req) => Promise.resolve(req.get('x-client') === 'pro' ? 2 : 1) });
    expect(await statuses(app, 3, { 'x-client': 'pro' })).toEqual([200, 200, 429]);
    expect(await statuses(app, 3)).toEqual([200, 429, 429]);
  });

  test('a limit of 0 denies all', async () => {
    for (const validate of [false, { limit: false }])
      expect(await statuses(served(still().store, { limit: 0, validate }), 2)).toEqual([429, 429]);
  });

  test('resetAll keeps what is incremented in its turn', async () => {
    const { store } = still();
    store.init(MINUTE);
    const [, taken] = await Promise.all([store.resetAll(), store.increment('k')]);
    expect(taken).toMatchObject({ totalHits: 1 });
    expect(await store.get('k')).toMatchObject({ totalHits: 1 });
  });

  test('windows below a second, and limits that are fractions, are decided as they are', async () => {
    const { store, time } = still();
    const app = served(store, { windowMs: 300, limit: 2.5 });
    expect(await statuses(app, 3)).toEqual([200, 200, 429]);
    time.advance(150);
    expect(await statuses(app, 2)).toEqual([200, 429]);
  });

  test('its own checks find nothing wrong with the store', async () => {
    const errors: unknown[] = [];
    const logger = {
      error: (error: unknown) => void errors.push(error),
      warn: (error: unknown) => void errors.push(error),
    };
    const { store } = still({ store: memoryStore(), name: 'login' });
    const app = express();
    app.use(rateLimit({ ...MINUTE, keyGenerator: () => 'k', logger, store, standardHeaders: 'draft-8' }));
    app.use(rateLimit({ ...MINUTE, keyGenerator: () => 'k', logger, store: still({ store: memoryStore() }).store }));
    await request(app).get('/');
    expect(errors).toEqual([]);
  });
});

describe('what is given back', () => {
  const failed = { 'x-status': '500' };

  test('requests that fail are not counted with skipFailedRequests', async () => {
    const app = served(still().store, { skipFailedRequests: true });
    expect(await statuses(app, 10, failed)).toEqual(Array.from({ length: 10 }, () => 500));
    expect(await statuses(app, 4)).toEqual([200, 200, 200, 429]);
  });

  test('requests that succeed are not counted with skipSuccessfulRequests, also after a denial', async () => {
    const { store, time } = still();
    const app = served(store, { skipSuccessfulRequests: true });
    expect(await statuses(app, 10)).not.toContain(429);
    expect(await statuses(app, 5, failed)).toEqual([500, 500, 500, 429, 429]);
    time.advance(20_000);
    expect(await statuses(app, 10)).not.toContain(429);
  });

  test('a denied request gives nothing back, though the limiter decrements for it', async () => {
    const app = served(still().store, { limit: 5, skipFailedRequests: true });
    expect(await statuses(app, 5)).not.toContain(429);
    expect(new Set(await statuses(app, 100))).toEqual(new Set([429]));
  });

  test('nor does it where the application says which requests were successful', async () => {
    const requestWasSuccessful: Options['requestWasSuccessful'] = (_req, res) => res.statusCode !== 401;
    const app = served(still().store, { skipSuccessfulRequests: true, requestWasSuccessful });
    expect(await statuses(app, 3, { 'x-status': '401' })).toEqual([401, 401, 401]);
    expect(new Set(await statuses(app, 20))).toEqual(new Set([429]));
  });

  test('a request that ends late gives back only what has not come back by itself', async () => {
    const { store, time } = still();
    store.init({ ...MINUTE, skipFailedRequests: true });
    const { end } = await begun(store, 'k');
    time.advance(20_000);
    await inRequest(() => store.increment('k'));
    await end();
    expect(await store.get('k')).toMatchObject({ totalHits: 1 });
  });

  test('a key of which nothing is left gives nothing back, with one warning', async () => {
    const events: LimiterEvent[] = [];
    const { store } = still({ onEvent: (event) => void events.push(event) });
    store.init(MINUTE);
    await inRequest(() => store.increment('other'));
    for (let i = 0; i < 3; i++) await inRequest(() => store.decrement('k'));
    expect(await store.get('other')).toMatchObject({ totalHits: 1 });
    expect(events).toMatchObject([{ type: 'warning' }]);
  });

  /** Answers in a context that is not that of the request, as parsers of uploads and pools of connections do. */
  function answeredElsewhere(options: Partial<Options>): Express {
    const waiting: (() => void)[] = [];
    const bus = setInterval(() => waiting.splice(0).forEach((answer) => answer()), 1);
    onTestFinished(() => clearInterval(bus));
    const app = express();
    app.use(rateLimit({ ...MINUTE, keyGenerator: () => 'k', logger: quiet, ...options, store: still().store }));
    app.get('/', (req, res) => void waiting.push(() => res.status(Number(req.get('x-status') ?? 200)).end()));
    return app;
  }

  test('what a request took comes back where its asynchronous context is lost', async () => {
    expect(await statuses(answeredElsewhere({ skipSuccessfulRequests: true }), 8)).toEqual(Array(8).fill(200));
    expect(await statuses(answeredElsewhere({ skipFailedRequests: true }), 8, failed)).toEqual(Array(8).fill(500));
  });

  test('and gives back no more where denied requests are decremented, too', async () => {
    const app = answeredElsewhere({ skipFailedRequests: true });
    expect(await statuses(app, 3)).toEqual([200, 200, 200]);
    expect(new Set(await statuses(app, 20))).toEqual(new Set([429]));
  });

  test('without a context, a key never has more back than its requests took, and exactly what is asked for', async () => {
    const steps = fc.array(fc.record({ key: fc.constantFrom('a', 'b'), takes: fc.boolean() }), { maxLength: 60 });
    await fc.assert(
      fc.asyncProperty(steps, async (all) => {
        const { store } = still();
        store.init(MINUTE);
        // What each key has passed and not given back, and how many of its denials were not taken back.
        const passed = new Map<string, number>();
        const denied = new Map<string, number>();
        const add = (counts: Map<string, number>, key: string, n: number): unknown =>
          counts.set(key, (counts.get(key) ?? 0) + n);
        for (const { key, takes } of all) {
          if (takes) {
            await inRequest(() => store.increment(key));
            add((passed.get(key) ?? 0) < MINUTE.limit ? passed : denied, key, 1);
          } else {
            await inRequest(() => store.decrement(key));
            if ((denied.get(key) ?? 0) > 0) add(denied, key, -1);
            else if ((passed.get(key) ?? 0) > 0) add(passed, key, -1);
          }
          expect((await store.get(key))?.totalHits ?? 0).toBe(passed.get(key) ?? 0);
        }
      }),
      { numRuns: 100, seed: 54 },
    );
  });

  test('a pool that ends all responses in the context of one request gives each of them back', async () => {
    const { store } = still();
    store.init({ ...MINUTE, skipSuccessfulRequests: true });
    const { end: ended } = await begun(store, 'k');
    await ended();
    for (let i = 0; i < 8; i++) {
      expect((await inRequest(() => store.increment('k'))).totalHits).toBe(1);
      await ended();
    }
  });

  test('a request that began before resetKey gives nothing back after it', async () => {
    const { store } = still();
    store.init({ ...MINUTE, skipSuccessfulRequests: true });
    const { end } = await begun(store, 'k');
    await store.resetKey('k');
    await inRequest(() => store.increment('k'));
    await end();
    expect(await store.get('k')).toMatchObject({ totalHits: 1 });
  });

  test('requests whose context is lost or not get no more back than they took, and no fewer pass than with the own store', async () => {
    const steps = fc.array(
      fc.record({
        key: fc.constantFrom('a', 'b'),
        ends: fc.option(fc.nat(), { nil: undefined }),
        isLost: fc.boolean(),
      }),
      { maxLength: 60 },
    );
    await fc.assert(
      fc.asyncProperty(steps, async (all) => {
        const { store } = still();
        store.init({ ...MINUTE, skipFailedRequests: true });
        const peers = new MemoryStore();
        peers.init(MINUTE as Options);
        onTestFinished(() => peers.shutdown());
        let deniedAlone = 0;
        // The requests that have not ended, and the oracle's count of those among them that passed.
        const open: { readonly key: string; readonly passed: boolean; readonly end: () => Promise<void> }[] = [];
        for (const { key, ends, isLost } of all) {
          if (ends === undefined) {
            const theirs = await peers.increment(key);
            const { totalHits, end } = await begun(store, key);
            const passed = totalHits <= MINUTE.limit;
            if (!passed && theirs.totalHits <= MINUTE.limit) deniedAlone += 1;
            open.push({ key, passed, end });
          } else if (open.length > 0) {
            const [ended] = open.splice(ends % open.length, 1);
            await peers.decrement(ended!.key);
            await (isLost ? inRequest(() => store.decrement(ended!.key)) : ended!.end());
          }
          for (const each of ['a', 'b']) {
            const taken = (await store.get(each))?.totalHits ?? 0;
            const ofKey = open.filter((one) => one.key === each);
            // Never fewer than the requests that passed and are open, and never more than all that are.
            expect(taken).toBeGreaterThanOrEqual(ofKey.filter(({ passed }) => passed).length);
            expect(taken).toBeLessThanOrEqual(ofKey.length);
          }
        }
        expect(deniedAlone).toBe(0);
      }),
      { numRuns: sized(100, 10_000), seed: 54 },
    );
  });

  test('the same behind hono-rate-limiter', async () => {
    const app = new Hono();
    const keyGenerator = (): string => 'k';
    const store = still().store;
    app.use(rateLimiter({ ...MINUTE, keyGenerator, skipFailedRequests: true, store }));
    app.get('/:status', (c) => c.body(null, Number(c.req.param('status')) as 200));
    const ask = async (status: number): Promise<number> => (await app.request(`/${status}`)).status;
    for (const _ of Array(10)) expect(await ask(500)).toBe(500);
    for (const _ of Array(3)) expect(await ask(200)).toBe(200);
    for (const _ of Array(20)) expect(await ask(200)).toBe(429);
  });
});

/** Runs something in an asynchronous context of its own, as each request has one. */
function inRequest<T>(run: () => Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    setImmediate(() => void run().then(resolve, reject));
  });
}

/** Begins a request, and gives what its limiter calls when it ends, in its asynchronous context. */
function begun(
  store: RateLimitStore,
  key: string,
): Promise<{ readonly totalHits: number; readonly end: () => Promise<void> }> {
  return inRequest(async () => {
    const { totalHits } = await store.increment(key);
    return { totalHits, end: AsyncResource.bind(() => store.decrement(key)) };
  });
}

describe('input that can not be decided by', () => {
  test.each<[what: string, options: Partial<Options>]>([
    ['a limit that only the limiter knows', { limit: () => 3 }],
    ['the same, where errors of the store let requests pass', { limit: () => 3, passOnStoreError: true }],
    ['a window without an end', { windowMs: Infinity }],
  ])('%s is an error where the program makes the limiter', (_what, options) => {
    expect(() => rateLimit({ ...MINUTE, logger: quiet, ...options, store: still().store })).toThrow(SluiceError);
  });

  test('a store is refused to a second limiter of other numbers where the program makes it', () => {
    const { store } = still();
    served(store);
    expect(() => rateLimit({ ...MINUTE, limit: 5, logger: quiet, store, validate: false })).toThrow(
      'different numbers',
    );
  });

  const refusal = async (config: object, options: RateLimitStoreOptions = {}): Promise<string> => {
    const { store } = still(options);
    expect(() => store.init(config as RateLimitConfig)).toThrow(SluiceError);
    return store.increment('k').then(String, ({ message }: Error) => message);
  };

  test.each([
    ['windowMs 0', { windowMs: 0, limit: 3 }, 'windowMs'],
    ['a negative windowMs', { windowMs: -1, limit: 3 }, 'windowMs'],
    ['a windowMs of NaN', { windowMs: Number.NaN, limit: 3 }, 'windowMs'],
    ['an endless windowMs', { windowMs: Infinity, limit: 3 }, 'windowMs'],
    ['a limit of NaN', { windowMs: 1000, limit: Number.NaN }, 'limit'],
    ['no limit', { windowMs: 1000 }, 'limit'],
    [
      'a limit of 0 with express-slow-down',
      { windowMs: 1000, limit: 0, validate: { limit: false } },
      'express-slow-down',
    ],
    ['a limit that only the limiter knows', { windowMs: 1000, limit: () => 3 }, '`limit` of the limiter is a function'],
  ])('%s is an error when the limiter is made, and of each request', async (_what, config, word) => {
    expect(await refusal(config)).toContain(word);
  });

  test('two numbers for one limit are an error', async () => {
    expect(await refusal(MINUTE, { limit: 4 })).toContain('leave out that of the store');
  });

  test('a store that no limiter has begun to use rejects', async () => {
    await expect(still().store.increment('k')).rejects.toThrow('before `init`');
  });

  test('a limit below 1 denies everybody, and one of Infinity nobody', async () => {
    const app = served(still().store, { limit: -1 });
    expect(await statuses(app, 2)).toEqual([429, 429]);
    expect(await statuses(served(still().store, { limit: Infinity }), 5)).not.toContain(429);
  });

  test('requests without a key count together, with one warning', async () => {
    const events: LimiterEvent[] = [];
    const { store } = still({ onEvent: (event) => void events.push(event) });
    store.init(MINUTE);
    for (const key of ['', undefined, null]) await store.increment(key as string);
    expect(await store.increment('')).toMatchObject({ totalHits: 4 });
    expect(events).toMatchObject([{ type: 'warning' }]);
    expect(await store.increment('~')).toMatchObject({ totalHits: 1 });
  });

  test('a key without a text of its own is an error', async () => {
    const { store } = still();
    store.init(MINUTE);
    await expect(store.increment(Promise.resolve('k') as never)).rejects.toMatchObject({ code: 'ERR_KEY' });
    expect(await store.increment(7 as never)).toMatchObject({ totalHits: 1 });
    expect(await store.increment('7')).toMatchObject({ totalHits: 2 });
  });

  test('keys of 10 MB, and half characters, are keys like others', async () => {
    const { store } = still();
    store.init(MINUTE);
    const long = 'x'.repeat(10_000_000);
    for (const key of [long, `${long}y`, '\ud800', '\ud801'])
      expect(await store.increment(key)).toMatchObject({ totalHits: 1 });
    expect(await store.increment(long)).toMatchObject({ totalHits: 2 });
  });

  test('an unknown option names ours', () => {
    expect(() => rateLimitStore({ prefix: 'rl:' } as never)).toThrow("`prefix` is `name` here, e.g. name: 'login'.");
    expect(() => rateLimitStore({ name: 'rl:login' })).toThrow("For example name: 'login', without a colon.");
  });
});

describe('limiters on one store', () => {
  const shared = (): { readonly store: Store; readonly of: (options?: RateLimitStoreOptions) => RateLimitStore } => {
    const store = memoryStore();
    onTestFinished(() => store.close());
    return { store, of: (options = {}) => still({ store, ...options }).store };
  };

  test('do not meet if their names or windows differ', async () => {
    const { of } = shared();
    const [one, named, shorter] = [of(), of({ name: 'login' }), of()];
    one.init(MINUTE);
    named.init({ ...MINUTE, limit: 5 });
    shorter.init({ ...MINUTE, windowMs: 1000 });
    for (const store of [one, named, shorter]) expect(await store.increment('k')).toMatchObject({ totalHits: 1 });
  });

  test('of one name and window must have one number', async () => {
    const { of } = shared();
    of().init(MINUTE);
    const other = of();
    expect(() => other.init({ ...MINUTE, limit: 4 })).toThrow('Another limiter already uses the limit name');
    await expect(other.increment('k')).rejects.toMatchObject({ code: 'ERR_LIMIT_IN_USE' });
  });

  test('share their buckets where their numbers are equal, also through one object', async () => {
    const { of } = shared();
    const [one, twin] = [of(), of()];
    one.init(MINUTE);
    one.init(MINUTE);
    twin.init(MINUTE);
    await one.increment('k');
    expect(await twin.increment('k')).toMatchObject({ totalHits: 2 });
  });

  test('can not use one object with other numbers', async () => {
    const { store } = still();
    store.init(MINUTE);
    expect(() => store.init({ ...MINUTE, limit: 4 })).toThrow('Make a store for each, with a `name` of its own');
    await expect(store.increment('k')).rejects.toMatchObject({ code: 'ERR_LIMIT_IN_USE' });
  });

  test('leave the store open when one of them ends', async () => {
    const { of } = shared();
    const [one, other] = [of({ name: 'one' }), of({ name: 'other' })];
    one.init(MINUTE);
    other.init(MINUTE);
    await one.shutdown();
    expect(await other.increment('k')).toMatchObject({ totalHits: 1 });
    await expect(one.increment('k')).rejects.toMatchObject({ code: 'ERR_CLOSED' });
  });

  test('resetAll empties a memory store of its own, and otherwise is an error that says what to do', async () => {
    const { store } = still();
    store.init(MINUTE);
    await store.increment('k');
    await store.resetAll();
    expect(await store.increment('k')).toMatchObject({ totalHits: 1 });
    const other = shared().of();
    other.init(MINUTE);
    await expect(other.resetAll()).rejects.toThrow('Use resetKey(key)');
  });
});
