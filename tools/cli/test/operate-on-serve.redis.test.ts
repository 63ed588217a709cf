import { writeFileSync } from 'node:fs';
import { leasedStore, redisStore, type LeasedStore, type RedisStore } from '@sluice/redis';
import { openService } from '@sluice/serve';
import { expect, onTestFinished, test } from 'vitest';
import { redisServer } from '../../../test/redis/servers/redis-server.ts';
import { operate } from '../src/serve/operator.ts';
import { written } from './files.ts';

const LIMITS = 'Orders: { count: 300, period: 3h, idFormat: accountId }\n';
const TABLES =
  'http: { api: { limits: [{ limit: Orders, id: { header: X-Account } }] } }\nonFailure: { Orders: local }\n';

/** A service on a Redis, and what it answers operators. */
async function service(
  limitsText = LIMITS,
  storeOf: (options: { url: string; log: false }) => RedisStore | LeasedStore = redisStore,
) {
  const redis = await redisServer();
  const store = storeOf({ url: redis.url, log: false });
  const [limits = '', tables = ''] = written(limitsText, TABLES);
  const opened = await openService({ limits, tables, store, everyMs: false, log: false });
  onTestFinished(() => opened.close());
  await store.ready();
  const lines: string[] = [];
  const ask = async (what: string, more: object = {}) => {
    const request = { version: 1, what, limit: 'Orders', id: 'alice', cost: 5, ...more };
    const { status, body } = await operate(request, {
      service: opened,
      store,
      records: undefined,
      log: (line) => lines.push(line),
    });
    return { status, body: JSON.parse(body) as unknown };
  };
  return { redis, opened, limits, ask, lines };
}

const ALICE = { limit: 'Orders', id: 'alice' };
const WHY = { forMs: 1000, reason: 'x', by: 'mia' };
const remaining = (count: number): object => ({ status: 200, body: { figures: { remaining: count } } });

test('a charge that Redis does not answer is an error, and is not taken by the policy of its limit', async () => {
  const { redis, ask, lines } = await service();
  expect(await ask('charge')).toMatchObject({ status: 200 });
  redis.freeze();
  expect(await ask('charge')).toMatchObject({ status: 503, body: { code: 'ERR_STORE_DEADLINE' } });
  expect(await ask('refund')).toMatchObject({ status: 503 });
  expect(await ask('reset')).toMatchObject({ status: 503 });
  expect(await ask('look')).toMatchObject({ status: 503 });
  expect(await ask('block', { version: 2, entry: { ...ALICE, ...WHY } })).toMatchObject({ status: 503 });
  expect(await ask('unblock', { version: 2, entry: ALICE })).toMatchObject({ status: 503 });
  expect(await ask('blocked', { version: 2, entry: {} })).toMatchObject({ status: 503 });
  expect(lines).toEqual(['Sluice: an operator called charge for Orders']);
  redis.thaw();
});

test('files are reloaded during a call of an operator, also with another format of ids', async () => {
  const { redis, opened, limits, ask } = await service();
  expect(await ask('charge')).toMatchObject({ status: 200 });
  redis.freeze();
  const charging = ask('charge');
  // Another format of ids, which two limiters on one store must not have.
  writeFileSync(limits, LIMITS.replace('accountId', 'ipAddress').replace('300', '400'));
  const before = opened.version;
  await opened.reload();
  expect(opened.version).not.toBe(before);
  redis.thaw();
  expect(await charging).toMatchObject({ status: 200 });
  expect(await ask('look', { id: '203.0.113.7' })).toMatchObject(remaining(400));
});

test('a limit whose tokens are leased is charged and reset as any other, after a sync', async () => {
  const { ask } = await service(LIMITS.replace('idFormat', 'overshoot: 0.1, idFormat'), (options) =>
    leasedStore({ ...options, gateways: 1 }),
  );
  expect(await ask('charge', { cost: 300 })).toMatchObject({ status: 200 });
  await expect.poll(() => ask('look')).toMatchObject(remaining(0));
  expect(await ask('reset')).toMatchObject({ status: 200 });
  await expect.poll(() => ask('look')).toMatchObject(remaining(300));
});

test.each([
  [{ version: undefined }, 'version 2'],
  [{ version: 3 }, 'version 2'],
  [{ version: '2' }, 'version 2'],
  [{ version: 2 }, 'malformed'],
  [{ version: 2, what: 'look', entry: ALICE }, 'malformed'],
  [{ version: 1, what: 'block', entry: { ...ALICE, ...WHY } }, 'malformed'],
  [{ version: 2, what: 'block' }, 'malformed'],
  [{ version: 2, what: 'block', entry: [ALICE] }, 'malformed'],
  [{ version: 2, what: 'block', entry: { ...ALICE, ...WHY, forMs: '1000' } }, 'block.forMs'],
  [{ version: 2, what: 'block', entry: { ...ALICE, ...WHY, forMs: 0 } }, 'block.forMs'],
  [{ version: 2, what: 'block', entry: { ...ALICE, ...WHY, forMs: 1e300 } }, 'block.forMs'],
  [{ version: 2, what: 'block', entry: { ...ALICE, ...WHY, reason: ['x'] } }, 'block.reason'],
  [{ version: 2, what: 'block', entry: { ...ALICE, ...WHY, reason: ' ' } }, 'block.reason'],
  [{ version: 2, what: 'block', entry: { ...ALICE, ...WHY, by: undefined } }, 'block.by'],
  [{ version: 2, what: 'block', entry: { ...ALICE, ...WHY, until: 5 } }, 'has no option `until`'],
  [{ version: 2, what: 'unblock', entry: { ...ALICE, id: 5 } }, 'malformed'],
  [{ version: 2, what: 'name', entry: { limit: 'Orders' } }, 'malformed'],
  [{ version: 2, what: 'name', entry: { ...ALICE, limit: '__proto__' } }, 'No limit is named'],
  [{ version: 2, what: 'blocked' }, 'malformed'],
  [{ version: 2, what: 'blocked', entry: { limit: 5 } }, 'malformed'],
  [{ version: 2, what: 'blocked', entry: { limit: 'Users' } }, "No limit is named 'Users'"],
  [{ cost: 0 }, 'malformed'],
  [{ cost: 1.5 }, 'malformed'],
  [{ cost: '5' }, 'malformed'],
  [{ id: 5 }, 'malformed'],
  [{ limit: ['Orders'] }, 'malformed'],
  [{ what: 'spend' }, 'malformed'],
  [{ what: 'record' }, 'malformed'],
  [{ what: 'record', record: '{}' }, 'malformed'],
  [{ what: 'constructor' }, 'malformed'],
  [{ limit: '__proto__' }, 'No limit is named'],
  [{ id: '' }, 'id'],
  [{ id: 'x'.repeat(300) }, 'id'],
])('a call with %j is rejected, and changes nothing', async (more, message) => {
  const { redis, ask } = await service();
  expect(await ask('charge', more)).toEqual({
    status: 400,
    body: expect.objectContaining({ message: expect.stringContaining(message) as string }) as object,
  });
  expect(await redis.call('KEYS', 'sluice:[Ol]*')).toEqual([]);
  expect(await redis.call('EXISTS', 'sluice::{blocks}')).toBe(0);
  expect(await ask('look')).toMatchObject(remaining(300));
});
