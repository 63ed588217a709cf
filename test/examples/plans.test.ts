import request, { type Response } from 'supertest';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { realDelay } from '../real-delay.ts';
import { curlCommands, run, runsInto } from './curl-commands.ts';
import { ExampleServer } from './example-server.ts';

let server: ExampleServer;

beforeEach(async () => {
  server = await ExampleServer.start('plans');
});
afterEach(() => server.stop());

const get = async (path: string, key: string): Promise<Response> =>
  await request(server.url).get(path).set('X-Api-Key', key);
const answer = async (length: number): Promise<Response> =>
  await request(server.url).post(`/answer?length=${length}`).set('X-Api-Key', 'pro-key');

/** The statuses of requests at once, in ascending order, and how many of those that passed were borrowed. */
async function burst(path: string, key: string, count: number) {
  const startMs = performance.now();
  const responses = await Promise.all(Array.from({ length: count }, () => get(path, key)));
  const seconds = (performance.now() - startMs) / 1000;
  const passed = responses.filter(({ status }) => status === 200);
  return { passed: passed.length, borrowed: passed.filter(({ body }) => body.borrowed).length, responses, seconds };
}

describe('the rate of a plan', () => {
  it('gives a tenant its assured tokens, and then borrowed ones up to its ceiling', async () => {
    const { passed, borrowed, responses, seconds } = await burst('/items', 'free-key', 60);
    // Some tokens come back meanwhile: two a second, and four of the ceiling.
    expect(passed).toBeGreaterThanOrEqual(8);
    expect(passed).toBeLessThanOrEqual(12 + 6 * seconds);
    expect(passed - borrowed).toBeGreaterThanOrEqual(4);
    expect(borrowed).toBeGreaterThanOrEqual(1);
    const denied = responses.find(({ status }) => status === 429);
    expect(denied?.body['violated-policies']).toEqual(['Requests']);
  });

  it('is higher for a larger plan', async () => {
    const { passed } = await burst('/items', 'pro-key', 30);
    expect(passed).toBeGreaterThanOrEqual(20);
    expect((await burst('/items', 'enterprise-key', 20)).passed).toBe(20);
  });

  it('hides the capacity from clients', async () => {
    const { headers } = await get('/items', 'free-key');
    expect(headers['ratelimit-policy']).toBe('"Requests";q=4;w=2, "Monthly";q=20');
    expect(JSON.stringify(headers)).not.toContain('Capacity');
  });
});

describe('the monthly quota', () => {
  it('denies after twenty requests, with the time until the end of the month, and takes nothing from the rate then', async () => {
    for (let taken = 0; taken < 20;) {
      const { passed } = await burst('/items', 'free-key', Math.min(4, 20 - taken));
      taken += passed;
      if (taken < 20) await realDelay(500);
    }
    expect((await get('/usage', 'free-key')).body).toMatchObject({ used: 20, of: 20 });
    await realDelay(600);
    const denied = await get('/items', 'free-key');
    expect(denied.status).toBe(429);
    expect(denied.body['violated-policies']).toEqual(['Monthly']);
    expect(Number(denied.get('Retry-After'))).toBeLessThanOrEqual(31 * 86_400 + 3600);
    expect((await get('/usage', 'free-key')).body).toMatchObject({ used: 20, of: 20 });
  });

  it('does not apply to an enterprise', async () => {
    expect((await get('/usage', 'enterprise-key')).body).toEqual({ unlimited: true });
    const { body } = await get('/usage', 'pro-key');
    expect(body).toMatchObject({ used: 0, of: 100_000 });
    expect(Date.parse(body.until)).toBeGreaterThan(Date.now());
  });
});

describe('exports', () => {
  it('continue one every 100 ms, and those that would wait longer than two seconds are denied', async () => {
    const sentMs = performance.now();
    const { responses } = await burst('/export', 'enterprise-key', 90);
    const tookMs = performance.now() - sentMs;
    const passed = responses.filter(({ status }) => status === 200).length;
    expect(passed).toBeGreaterThanOrEqual(21);
    expect(passed).toBeLessThan(90);
    // All are timed together: on a busy machine timers are late, and then some follow each other sooner.
    expect(tookMs).toBeGreaterThan(100 * (passed - 1) - 50);
  });
});

describe('answers of the language model', () => {
  it('may cost more tokens than there are, and are denied afterwards until the debt is paid back', async () => {
    expect((await answer(3000)).status).toBe(200);
    await expect.poll(async () => (await answer(1)).status).toBe(429);
    const denied = await answer(1);
    expect(denied.body['violated-policies']).toEqual(['LlmTokens']);
    // 2,000 tokens of debt and the 10 of the request, at 6,000 an hour.
    expect(Number(denied.get('Retry-After'))).toBeGreaterThan(1190);
    expect(Number(denied.get('Retry-After'))).toBeLessThanOrEqual(1207);
  });
});

it('a request without a known API key is answered with 401', async () => {
  expect((await request(server.url).get('/items')).status).toBe(401);
});

it('the printed commands show what their captions promise', async () => {
  const [free, pro] = curlCommands(server.output);
  const denied = (statuses: readonly number[]) => statuses.filter((status) => status === 429).length;
  await runsInto(free!, { burst: 8, perSecond: 4 });
  expect(denied(await run(pro!))).toBeLessThan(6);
});
