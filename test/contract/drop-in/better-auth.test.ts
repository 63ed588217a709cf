import { memoryStore, type LimiterEvent } from '@sluice/core';
import { FakeTime } from '@sluice/core/testing';
import { rateLimitStorage, type RateLimitStorage, type RateLimitStorageOptions } from '@sluice/drop-in/better-auth';
import { betterAuth } from 'better-auth';
import { memoryAdapter } from 'better-auth/adapters/memory';
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { withoutTimes, type Answer } from './usages/usage.ts';

/** A storage on a clock that stands still. */
function still(options: RateLimitStorageOptions = {}): { readonly storage: RateLimitStorage; readonly time: FakeTime } {
  const time = new FakeTime();
  return { storage: rateLimitStorage({ time, log: false, ...options }), time };
}

/** Wrong sign-ins to a real better-auth, of one client. */
function signIns(customStorage: RateLimitStorage): (count: number) => Promise<Response[]> {
  const auth = betterAuth({
    baseURL: 'http://localhost:3000',
    secret: 'a secret of at least thirty-two characters',
    database: memoryAdapter({ user: [], session: [], account: [], verification: [] }),
    emailAndPassword: { enabled: true },
    rateLimit: { enabled: true, customStorage },
    advanced: { ipAddress: { ipAddressHeaders: ['x-client'] } },
    logger: { disabled: true },
  });
  const headers = { 'content-type': 'application/json', 'x-client': '203.0.113.7' };
  const body = JSON.stringify({ email: 'someone@example.com', password: 'not this one' });
  const signIn = (): Promise<Response> =>
    auth.handler(new Request('http://localhost:3000/api/auth/sign-in/email', { method: 'POST', headers, body }));
  return (count) => Promise.all(Array.from({ length: count }, signIn));
}

describe('behind better-auth', () => {
  test('of 50 parallel wrong sign-ins 3 are handled, and the others are told the exact wait', async () => {
    const { storage, time } = still();
    const many = signIns(storage);
    const answers = await many(50);
    expect(answers.filter(({ status }) => status === 401)).toHaveLength(3);
    const denied = answers.filter(({ status }) => status === 429);
    expect(denied).toHaveLength(47);
    expect(new Set(denied.map(({ headers }) => headers.get('X-Retry-After')))).toEqual(new Set(['4']));
    time.advance(4000);
    expect((await many(2)).filter(({ status }) => status === 401)).toHaveLength(1);
  });
});

test('clients of which better-auth knows no address share a bucket, as with its own storage, with one warning', async () => {
  const file = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
  const loader = new URL('../../redis/processes/typescript.mjs', import.meta.url).href;
  const program = ['--conditions=@sluice/source', '--import', loader, file('production.ts')];
  const env = { ...process.env, NODE_ENV: 'production', TEST: '' };
  const { stdout } = await promisify(execFile)(process.execPath, program, { env });
  const { own, ours, events } = JSON.parse(stdout) as Record<'own' | 'ours', Answer[]> & { events: unknown };
  expect(ours.map(withoutTimes)).toEqual(own.map(withoutTimes));
  expect(ours.map(({ status }) => status)).toEqual([200, 200, 200, 429, 429]);
  expect(events).toMatchObject([{ type: 'warning', message: expect.stringContaining('trustedProxies') }]);
});

describe('a storage', () => {
  test('has a bucket for each key and window, whose number may change', async () => {
    const { storage } = still();
    expect(await storage.consume('k', { window: 10, max: 1 })).toEqual({ allowed: true, retryAfter: null });
    expect(await storage.consume('k', { window: 10, max: 1 })).toEqual({ allowed: false, retryAfter: 10 });
    expect(await storage.consume('k', { window: 60, max: 1 })).toMatchObject({ allowed: true });
    expect(await storage.consume('other', { window: 10, max: 1 })).toMatchObject({ allowed: true });
  });

  test.each([
    ['a window of 0', { window: 0, max: 3 }, 'window'],
    ['a negative window', { window: -1, max: 3 }, 'window'],
    ['a window of NaN', { window: Number.NaN, max: 3 }, 'window'],
    ['a max of NaN', { window: 10, max: Number.NaN }, 'max'],
  ])('rejects %s', async (_what, rule, option) => {
    await expect(still().storage.consume('k', rule)).rejects.toThrow(`\`${option}\` must be a number`);
  });

  test('denies all with a max below 1, and decides windows below a second', async () => {
    const { storage } = still();
    expect(await storage.consume('k', { window: 0.5, max: 0 })).toEqual({ allowed: false, retryAfter: 1 });
    expect(await storage.consume('k', { window: 0.5, max: -1 })).toEqual({ allowed: false, retryAfter: 1 });
    expect(await storage.consume('k', { window: 0.5, max: 1.5 })).toEqual({ allowed: true, retryAfter: null });
  });

  test('counts requests without a key together, with one warning, and takes keys of 10 MB', async () => {
    const events: LimiterEvent[] = [];
    const { storage } = still({ store: memoryStore(), onEvent: (event) => void events.push(event) });
    expect(await storage.consume('', { window: 10, max: 1 })).toMatchObject({ allowed: true });
    expect(await storage.consume(undefined as never, { window: 10, max: 1 })).toMatchObject({ allowed: false });
    expect(events).toMatchObject([{ type: 'warning' }]);
    expect(await storage.consume('x'.repeat(10_000_000), { window: 10, max: 1 })).toMatchObject({ allowed: true });
  });
});
