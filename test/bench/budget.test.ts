import { createRequire } from 'node:module';
import { expect, test } from 'vitest';
import { profileOf } from '../../bench/budget/profile.mjs';
import { sourceOf } from '../../bench/budget/sources.mjs';

const SPENDS = 200_000;

test('the functions of a built package are found in the sources that they were written in', async () => {
  const { accountId, createLimiter } = createRequire(import.meta.url)(
    '../../packages/core/dist/index.js',
  ) as typeof import('@sluice/core');
  const limiter = createLimiter({ limits: { Calls: { key: accountId(), count: 1_000_000, period: '1s' } } });
  const { nodes } = await profileOf(() => {
    for (let i = 0; i < SPENDS; i++) void limiter.spend([{ limit: 'Calls', id: 'ann' }]);
  });
  const sources = nodes.map(({ callFrame }) => sourceOf(callFrame)).filter((url) => url.includes('/packages/core/'));
  const files = new Set(sources.map((url) => /\/core\/src\/[^/]+\/.*\.ts$/.exec(url)?.[0]));
  expect(files.size).toBeGreaterThan(5);
  expect(files).not.toContain(undefined);
});
