// `npm run trial -- sizing` fills a Redis with buckets of several kinds of ids, and prints the bytes that each one takes there.
import { accountId, createLimiter } from '@sluice/core';
import { redisStore } from '@sluice/redis';
import { randomUUID } from 'node:crypto';
import { redisServer } from './servers/redis-server.ts';
import { running } from './servers/running.ts';
import { until } from './servers/until.ts';

const BUCKETS = 100_000;
const AT_ONCE = 1000;

const KINDS: readonly { ids: string; example: string; id: (index: number) => string }[] = [
  { ids: 'account numbers', example: 'sluice:OrdersPerAccount:10000000', id: (index) => String(10_000_000 + index) },
  { ids: 'IPv4 addresses', example: 'sluice:OrdersPerAccount:203.0.113.7', id: (index) => ipv4(index) },
  {
    ids: 'IPv6 /48',
    example: 'sluice:OrdersPerAccount:2001%3Adb8%3A7%3A%3A%2F48',
    id: (index) => `2001:db8:${index.toString(16)}::/48`,
  },
  { ids: 'UUIDs', example: `sluice:OrdersPerAccount:${randomUUID()}`, id: () => randomUUID() },
];

console.log('| ids | example of a key | bytes for each bucket |\n| --- | --- | --- |');
for (const { ids, example, id } of KINDS) {
  // oxlint-disable-next-line no-await-in-loop -- one server after the other
  console.log(`| ${ids} | \`${example}\` | ${Math.round(await bytesPerBucket(id))} |`);
}

async function bytesPerBucket(id: (index: number) => string): Promise<number> {
  const server = await redisServer();
  const store = redisStore({ url: server.url });
  const limits = { OrdersPerAccount: { key: accountId(), count: 300, period: '180m' } };
  const limiter = createLimiter({ limits, store, failure: { deadlineMs: 10_000, onFailure: 'closed' } });
  await until('it is connected', () => store.status().state === 'up');
  await limiter.spend([{ limit: 'OrdersPerAccount', id: 'first' }]);
  const usedBytes = async (): Promise<number> => {
    const info = await server.call<string>('INFO', 'memory');
    return (
      Number(/^used_memory_dataset:(\d+)/m.exec(info)?.[1]) + Number(/^used_memory_overhead:(\d+)/m.exec(info)?.[1])
    );
  };
  const beforeBytes = await usedBytes();
  for (let index = 0; index < BUCKETS; index += AT_ONCE) {
    const asked = Array.from({ length: AT_ONCE }, (_, more) =>
      limiter.spend([{ limit: 'OrdersPerAccount', id: id(index + more) }]),
    );
    // oxlint-disable-next-line no-await-in-loop -- a thousand at once
    await Promise.all(asked);
  }
  const keys = await server.call<number>('DBSIZE');
  const bytes = ((await usedBytes()) - beforeBytes) / (keys - 1);
  await limiter.close();
  await store.close();
  await running.closeAllBut();
  return bytes;
}

function ipv4(index: number): string {
  return [100 + (index >> 16), (index >> 8) & 255, index & 255, 7].join('.');
}
