import { writeFileSync } from 'node:fs';
import { accountId, type Limiter } from '@sluice/core';
import { concurrency as concurrencyLimit } from '@sluice/core/concurrency';
import { loadLimits } from '@sluice/config';
import { expect, it } from 'vitest';
import { watched } from './watched.ts';
import { written } from './written-files.ts';

const keys = { InFlight: accountId() };

const slotsOf = (concurrency: number): string => `InFlight: { concurrency: ${concurrency} }\n`;

function held(limiter: Limiter, id = 'a') {
  return limiter.spend([{ limit: 'InFlight', id }], { hold: true });
}

it('a concurrency limit has the options that its file gives it', async () => {
  const { defaults } = written({
    limits: 'InFlight: { concurrency: 20, expiry: 5s, scope: store, hidden: true }\n',
  });
  const { limits } = await loadLimits({ defaults, keys });
  expect(limits['InFlight']).toEqual(
    concurrencyLimit({
      key: keys.InFlight,
      concurrency: 20,
      expiry: '5s',
      scope: 'store',
      hidden: true,
    }),
  );
});

it('overrides give ids other numbers of slots, none, or as many as they want', async () => {
  const { defaults, overrides } = written({
    limits: slotsOf(1),
    overrides: `
- InFlight: { concurrency: 2, ids: [large] }
- InFlight: { concurrency: 3, ids: [larger] }
- InFlight: { unlimited: true, ids: [own] }
- InFlight: { blocked: true, ids: [spam] }
`,
  });
  const { limiter } = await watched({ defaults, overrides }, { everyMs: false }, keys);
  const passed = async (id: string): Promise<readonly boolean[]> => {
    const decisions = await Promise.all([1, 2, 3, 4].map(() => held(limiter, id)));
    return decisions.map(({ allowed }) => allowed);
  };
  expect(await passed('other')).toEqual([true, false, false, false]);
  expect(await passed('large')).toEqual([true, true, false, false]);
  expect(await passed('larger')).toEqual([true, true, true, false]);
  expect(await passed('own')).toEqual([true, true, true, true]);
  expect(await passed('spam')).toEqual([false, false, false, false]);
});

it('a raised concurrency applies at once, and slots that are held stay held', async () => {
  const { defaults } = written({ limits: slotsOf(2) });
  const { limiter, live } = await watched({ defaults }, { everyMs: false }, keys);
  const [first] = [await held(limiter), await held(limiter)];
  expect((await held(limiter)).allowed).toBe(false);
  writeFileSync(defaults, slotsOf(3));
  await live.reload();
  expect((await held(limiter)).allowed).toBe(true);
  expect((await held(limiter)).allowed).toBe(false);
  await first.release();
  expect((await held(limiter)).allowed).toBe(true);
});

it('a lowered concurrency denies until enough slots are released', async () => {
  const { defaults } = written({ limits: slotsOf(3) });
  const { limiter, live } = await watched({ defaults }, { everyMs: false }, keys);
  const [first, second, third] = [await held(limiter), await held(limiter), await held(limiter)];
  writeFileSync(defaults, slotsOf(1));
  await live.reload();
  await first.release();
  await second.release();
  expect((await held(limiter)).allowed).toBe(false);
  await third.release();
  expect((await held(limiter)).results[0]).toMatchObject({ allowed: true, count: 1, remaining: 0 });
  expect((await held(limiter)).allowed).toBe(false);
});

it('a raised override applies at once', async () => {
  const listed = (concurrency: number): string => `- InFlight: { concurrency: ${concurrency}, ids: [a] }\n`;
  const { defaults, overrides } = written({ limits: slotsOf(1), overrides: listed(2) });
  const { limiter, live } = await watched({ defaults, overrides }, { everyMs: false }, keys);
  await held(limiter);
  await held(limiter);
  expect((await held(limiter)).allowed).toBe(false);
  writeFileSync(overrides, listed(3));
  await live.reload();
  expect((await held(limiter)).allowed).toBe(true);
});

it('a limit that becomes a rate has full buckets', async () => {
  const { defaults } = written({ limits: slotsOf(1) });
  const { limiter, live } = await watched({ defaults }, { everyMs: false }, keys);
  const first = await held(limiter);
  writeFileSync(defaults, 'InFlight: { count: 2, period: 1m }\n');
  await live.reload();
  const spend = async () => (await limiter.spend([{ limit: 'InFlight', id: 'a' }])).allowed;
  expect([await spend(), await spend(), await spend()]).toEqual([true, true, false]);
  await first.release();
  expect(await spend()).toBe(false);
});
