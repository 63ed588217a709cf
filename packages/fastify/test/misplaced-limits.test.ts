import { accountId, createLimiter } from '@sluice/core';
import { expect, test } from 'vitest';
import { appWith } from './app.ts';

/** An app with two registrations whose limits apply only to routes that name them, and its warnings. */
async function warningApp() {
  const warnings: string[] = [];
  const limits = { Orders: { key: accountId(() => 'ann'), count: 1, period: '1m' } };
  const limiter = createLimiter({ limits, log: false, onEvent: ({ message }) => void warnings.push(message) });
  const app = await appWith({ limiter, global: false }, { limiter, global: false });
  return { app, warnings };
}

test.each([
  ['config.ratelimit', { config: { ratelimit: { limits: ['Orders'] } } }],
  ['config.rate_limit', { config: { rate_limit: { limits: ['Orders'] } } }],
  ['config.rateLimits', { config: { rateLimits: ['Orders'] } }],
  ['rateLimit', { rateLimit: { limits: ['Orders'] } }],
])('limits of a route in %s, where they have no effect, are one warning', async (place, options) => {
  const { app, warnings } = await warningApp();
  app.get('/orders', options as object, () => 'ok');
  await app.ready();
  expect(warnings).toEqual([
    `The route /orders has its limits as ${place}, where they have no effect. Write { config: { rateLimit: … } }.`,
  ]);
});

test('other settings of a route, and limits in their place, are no warning', async () => {
  const { app, warnings } = await warningApp();
  app.get('/orders', { config: { rateLimit: { limits: ['Orders'] }, rate: 5 } as object }, () => 'ok');
  app.get('/free', () => 'ok');
  await app.ready();
  expect(warnings).toEqual([]);
});
