import { accountId, createLimiter } from '@sluice/core';
import { concurrency } from '@sluice/core/concurrency';
import { expect, test } from 'vitest';
import { ownPostgresServer } from '../../../test/postgres/postgres-server.ts';
import { until } from '../../../test/redis/servers/until.ts';
import { storeOn } from './support.ts';

test('slots whose take or release an outage has swallowed are free when they expire, and those in use stay taken', async () => {
  const server = await ownPostgresServer();
  const Slots = concurrency({ key: accountId(), concurrency: 10, expiry: '3s', onFailure: 'closed' });
  const failure = { deadlineMs: 1500 };
  const limiter = createLimiter({ limits: { Slots }, store: storeOn(server), failure, log: false });
  await limiter.ready();
  const one = [{ limit: 'Slots', id: 'alice' }] as const;
  const held = await Promise.all(Array.from({ length: 5 }, () => limiter.spend(one, { hold: true })));
  const taken = async (): Promise<number> => 10 - (await limiter.check(one)).remaining;
  expect(await taken()).toBe(5);

  server.freeze();
  // In the statement that hangs, and after it.
  const refused = [
    ...(await Promise.all([limiter.spend(one, { hold: true }), limiter.spend(one, { hold: true })])),
    await limiter.spend(one, { hold: true }),
  ];
  expect(refused.map(({ allowed }) => allowed)).toEqual([false, false, false]);
  for (const decision of held.slice(0, 3)) await decision.release();
  server.thaw();

  await until('the lost ones have expired', async () => (await taken()) === 2);
  // Renewed meanwhile.
  for (const decision of held.slice(3)) await decision.release();
  expect(await taken()).toBe(0);
  await limiter.close();
});
