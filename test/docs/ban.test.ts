import { readFileSync } from 'node:fs';
import { clientNetwork, createLimiter, memoryStore } from '@sluice/core';
import { FakeTime } from '@sluice/core/testing';
import { expect, it, onTestFinished, vi } from 'vitest';
import { blocksOf } from './blocks.ts';
import { app, limiter } from './code/ban.ts';
import { serve } from './serve.ts';

it('docs/limits/bans.md shows the code that is tested here, blocks first', () => {
  const codes = ['block', 'ban'].map((name) => readFileSync(new URL(`code/${name}.ts`, import.meta.url), 'utf8'));
  expect(blocksOf('docs/limits/bans.md').map((block) => block.code)).toEqual(codes);
});

it('the first code of the page blocks a user, lists the block and ends it', async () => {
  const log = vi.spyOn(console, 'log').mockReturnValue();
  onTestFinished(() => log.mockRestore());
  await import('./code/block.ts');
  const block = { limit: 'Orders', id: '12345678', reason: 'ticket 4711', by: 'mia' };
  expect(log.mock.calls).toMatchObject([[[block]]]);
});

it('a client that requests a trap is banned for an hour, and no response mentions the ban', async () => {
  const url = await serve(app);
  expect(await Promise.all([get(url, '/'), get(url, '/')])).toMatchObject([{ status: 404 }, { status: 404 }]);
  expect((await get(url, '/wp-login.php')).status).toBe(404);
  const banned = await get(url, '/');
  expect(banned).toMatchObject({ status: 429, retryAfter: '3600' });
  expect(banned.everything).not.toMatch(/ban|ratelimit/i);
  await limiter.reset([{ limit: 'Ban', id: '127.0.0.1' }]);
  expect((await get(url, '/')).status).toBe(404);
});

it('a charge bans a client from anywhere, a reset ends the ban', async () => {
  const entries = [{ limit: 'Ban', id: '203.0.113.7' }] as const;
  await limiter.charge([{ limit: 'Ban', id: '203.0.113.7' }]);
  expect((await limiter.check(entries)).allowed).toBe(false);
  await limiter.reset([{ limit: 'Ban', id: '203.0.113.7' }]);
  expect((await limiter.check(entries)).allowed).toBe(true);
});

it('with 24 tokens, one an hour, a ban lasts as many hours as it is charged, and further ones add to it', async () => {
  const time = new FakeTime();
  const hours = createLimiter({
    limits: { Ban: { key: clientNetwork(), burst: 24, count: 24, period: '24h', hidden: true } },
    store: memoryStore({ time }),
  });
  const isBanned = async () =>
    !(await hours.check([{ limit: 'Ban', id: '203.0.113.7', cost: 24, mode: 'check-only' }])).allowed;
  await hours.charge([{ limit: 'Ban', id: '203.0.113.7', cost: 3 }]);
  await hours.charge([{ limit: 'Ban', id: '203.0.113.7', cost: 2 }]);
  time.advance(5 * 3_600_000 - 1);
  expect(await isBanned()).toBe(true);
  time.advance(1);
  expect(await isBanned()).toBe(false);
});

async function get(url: string, path: string) {
  const response = await fetch(url + path);
  const everything = `${JSON.stringify([...response.headers])} ${await response.text()}`;
  return { status: response.status, retryAfter: response.headers.get('Retry-After'), everything };
}
