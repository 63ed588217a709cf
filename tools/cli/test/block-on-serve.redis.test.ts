import { createLimiter, accountId, type BlockEntry } from '@sluice/core';
import { redisStore } from '@sluice/redis';
import { expect, onTestFinished, test } from 'vitest';
import { redisServer } from '../../../test/redis/servers/redis-server.ts';
import { until } from '../../../test/redis/servers/until.ts';
import { run, runJson } from './run.ts';
import { asked, service } from './served.ts';

const WHY = ['--for', '2h', '--reason', 'ticket 4711', '--by', 'mia'];
const CLIENT = '203.0.113.7';

/** A Redis, services on it, and another process that blocks. */
async function shared() {
  const { url } = await redisServer();
  const store = redisStore({ url, log: false });
  const limits = { Orders: { key: accountId(), count: 300, period: '3h' } };
  const neighbour = createLimiter({ limits, store, failure: { deadlineMs: 20_000 }, log: false });
  onTestFinished(() => neighbour.close({ store: true }));
  await neighbour.ready();
  const start = () =>
    service(['--metrics', 'unix:FOLDER/metrics.sock', '--operate', '--redis', url, '--deadline', '5000']);
  return { url, neighbour, start };
}

test('a block by one of two services holds in both, also in one that has just started, until either ends it', async () => {
  const { url, start } = await shared();
  const [first, second] = [await start(), await start()];
  expect([await asked(first.check, CLIENT), await asked(second.check, CLIENT)]).toEqual([200, 200]);
  const made = await run(['block', '--store', first.metrics, 'PerClient', CLIENT, ...WHY, '--log']);
  expect(made).toMatchObject({ code: 0, err: '' });
  expect(await asked(first.check, CLIENT)).toBe(403);
  await until('the other knows it', async () => (await asked(second.check, CLIENT)) === 403);
  await first.end();
  const next = await start();
  expect(await asked(next.check, CLIENT)).toBe(403);
  expect((await run(['unblock', '--store', second.metrics, 'PerClient', CLIENT])).code).toBe(0);
  // One token of two was taken before.
  expect(await asked(second.check, CLIENT)).not.toBe(403);
  await until('the new one knows it', async () => (await asked(next.check, CLIENT)) !== 403);
  expect((await run(['log', '--redis', url])).out).toMatch(
    /^20\S+Z mia: block PerClient 203\.0\.113\.7, until 20\S+Z: ticket 4711\n$/,
  );
});

test('peek shows a block that another process has made, also if the service has had nothing to decide', async () => {
  const { neighbour, start } = await shared();
  const { metrics } = await start();
  const entry = { limit: 'Orders', id: 'alice', forMs: 60_000, reason: 'ticket 4711', by: 'mia' } as const;
  await neighbour.block([entry]);
  expect(await runJson(['peek', '--store', metrics, 'Orders', 'alice'])).toMatchObject({
    state: 'blocked',
    block: { reason: 'ticket 4711' },
  });
  await neighbour.unblock([{ limit: 'Orders', id: 'alice' }]);
  expect(await runJson(['peek', '--store', metrics, 'Orders', 'alice'])).toMatchObject({ state: 'counted' });
});

const blocksWith = (text: string): readonly BlockEntry<'Orders'>[] =>
  Array.from({ length: 10_000 }, (_, i) => ({
    limit: 'Orders',
    id: `account-${i}`,
    forMs: 3_600_000,
    reason: text,
    by: 'mia',
  }));

test('all of 10,000 blocks are listed, and what is too long for an answer is refused', async () => {
  const { neighbour, start } = await shared();
  const { metrics } = await start();
  const on = (...words: string[]) => run([...words, '--store', metrics, '--timeout', '60000']);
  await neighbour.block(blocksWith('scrapes the catalogue, ticket 4711'));
  const { out } = await on('blocked');
  expect(out.match(/^Orders account-/gm)).toHaveLength(10_000);
  expect((await on('blocked', 'Orders')).out).toHaveLength(out.length);
  const one = await on('block', 'Orders', 'alice', ...WHY);
  expect(one).toMatchObject({ code: 2, err: expect.stringContaining("can't add a block") as string });
  // A character of control has six bytes in JSON.
  await neighbour.block(
    blocksWith(`why ${'\u0001'.repeat(196)}`).map((each) => ({ ...each, by: `b${'\u0001'.repeat(99)}` })),
  );
  const refused = await on('blocked');
  expect(refused).toEqual({
    code: 2,
    out: '',
    err: expect.stringContaining('more blocks than fit into one answer') as string,
  });
  expect((await on('blocked', 'Monthly')).code).toBe(0);
  expect(await on('unblock', 'Orders', 'account-7')).toMatchObject({ code: 0 });
});
