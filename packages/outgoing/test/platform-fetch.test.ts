import { createLimiter, everyone } from '@sluice/core';
import { createScheduler } from '@sluice/core/scheduler';
import { limitedFetch } from '@sluice/outgoing';
import { afterEach, expect, test, vi } from 'vitest';

const [key, id] = [everyone(), 'everyone'];
const url = 'https://api.example.com';
const TOKENS = 20;
afterEach(() => void vi.unstubAllGlobals());

function scene() {
  const limits = { Api: { key, burst: TOKENS, count: 1, period: '1h' } } as const;
  const limiter = createLimiter({ limits, log: false });
  const taken = () => TOKENS - limiter.checkSync([{ limit: 'Api', id, cost: 0 }]).remaining;
  return { scheduler: createScheduler(limiter), taken };
}
const text = async (fetch: typeof globalThis.fetch): Promise<string> => (await fetch(url)).text();

test('a door sends by the fetch that the platform has when a request is sent', async () => {
  const { scheduler } = scene();
  const limited = limitedFetch({ scheduler });
  for (const name of ['first', 'second']) {
    vi.stubGlobal('fetch', async () => new Response(name));
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    expect(await text(limited)).toBe(name);
  }
});

test('doors in the place of the fetch of the platform send by the one before them, and take their tokens once', async () => {
  vi.stubGlobal('fetch', async () => new Response('of the platform'));
  const [inner, outer, beside] = [scene(), scene(), scene()];
  const limited = limitedFetch({ scheduler: beside.scheduler });
  vi.stubGlobal('fetch', limitedFetch({ scheduler: inner.scheduler }));
  expect(await text(fetch)).toBe('of the platform');
  vi.stubGlobal('fetch', limitedFetch({ scheduler: outer.scheduler }));
  expect([await text(fetch), await text(limited)]).toEqual(['of the platform', 'of the platform']);
  expect([inner.taken(), outer.taken(), beside.taken()]).toEqual([1, 1, 1]);
});
