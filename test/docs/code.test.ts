import { readFileSync } from 'node:fs';
import { FakeTime, storeContract } from '@sluice/core/testing';
import { describe, expect, it, test } from 'vitest';
import { blocksOf } from './blocks.ts';
import { spend } from './code/alternatives.ts';
import { limited } from './code/http-adapter.ts';
import { MapStore } from './code/map-store.ts';
import { app } from './code/share.ts';
import { serve } from './serve.ts';

it.each([
  ['docs/limits/several-limits.md', 'alternatives.ts'],
  ['docs/limits/shares.md', 'share.ts'],
  ['docs/testing.md', 'faked-timers.test.ts'],
  ['docs/writing-a-store.md', 'map-store.ts'],
  ['docs/writing-an-adapter.md', 'http-adapter.ts'],
])('%s shows the code that is tested here', (page, file) => {
  const code = readFileSync(new URL(`code/${file}`, import.meta.url), 'utf8');
  expect(blocksOf(page).map((block) => block.code)).toContain(code);
});

describe('the store of docs/writing-a-store.md keeps the contract of stores', () => {
  const cases = storeContract({
    clock: 'steered',
    create() {
      const time = new FakeTime();
      return {
        store: new MapStore(time),
        advance: (ms) => time.advance(ms),
        stepBack: (ms) => time.set(time.nowMs - ms),
      };
    },
  });
  test.each(cases)('$name', async ({ run }) => expect(run()).resolves.toBeUndefined());
});

it('the alternatives of docs/limits/several-limits.md are the own bucket, then the shared one', async () => {
  const decisions = await Promise.all(Array.from({ length: 601 }, () => spend('7')));
  const limits = decisions.map(({ allowed, limit }) => allowed && limit);
  expect(limits.filter((limit) => limit === 'OfCustomer').length).toBeGreaterThanOrEqual(100);
  expect(limits.filter((limit) => limit === 'OfAllCustomers').length).toBeGreaterThan(490);
  expect((await spend('8')).limit).toBe('OfCustomer');
});

it('the batch jobs of docs/limits/shares.md stop at 80 of 100 tokens, and checkouts get the other 20', async () => {
  const url = await serve(app);
  const post = async (path: string, times: number): Promise<Response[]> =>
    Promise.all(Array.from({ length: times }, () => fetch(url + path, { method: 'POST' })));
  const passed = (responses: readonly Response[]): number => responses.filter(({ ok }) => ok).length;
  const [checkouts, batches] = [await post('/checkout', 50), await post('/batch', 40)];
  expect([passed(checkouts), passed(batches)]).toEqual([50, 30]);
  expect(checkouts.map(({ headers }) => headers.get('RateLimit'))).toContainEqual(expect.stringContaining('r=50;'));
  expect(batches.map(({ headers }) => headers.get('RateLimit'))).toContainEqual(expect.stringContaining('r=29;'));
  expect(passed(await post('/checkout', 30))).toBe(20);
});

describe('the adapter of docs/writing-an-adapter.md', () => {
  it('allows exactly the burst, and denies the rest', async () => {
    const url = await serve(
      limited({ burst: 1, count: 1, period: '1m' }, (_request, response) => response.end('hello')),
    );
    const [first, second] = [await fetch(url), await fetch(url)];
    expect([first.status, second.status]).toEqual([200, 429]);
    expect(first.headers.get('RateLimit')).toBe('"default";r=0;t=60');
    expect(second.headers.get('Retry-After')).toBe('60');
  });

  it('answers an error of the cost function by its status', async () => {
    const url = await serve(limited({ count: 1, period: '1m', cost: () => 2 }, (_request, response) => response.end()));
    expect((await fetch(url)).status).toBe(400);
  });
});
