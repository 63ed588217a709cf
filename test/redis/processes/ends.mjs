// Decides a few times, closes, and does nothing more: the process must end by itself.
import { accountId, createLimiter } from '@sluice/core';
import { redisStore } from '@sluice/redis';
import { Redis } from 'ioredis';
import { setTimeout as sleep } from 'node:timers/promises';

const [port, clientIs] = process.argv.slice(2);
process.on('unhandledRejection', (reason) => {
  console.error('unhandled', reason);
  process.exit(3);
});

const client = clientIs === 'given' ? new Redis({ port: Number(port), lazyConnect: true }) : undefined;
const connection = client === undefined ? { url: `redis://127.0.0.1:${port}` } : { client };
const store = redisStore({ ...connection, log: false });
const limiter = createLimiter({
  limits: { Orders: { key: accountId(), count: 5, period: '1s' } },
  store,
  log: () => {},
});
for (let decisions = 0; decisions < 20; decisions++) {
  // oxlint-disable-next-line no-await-in-loop -- over a while
  await limiter.spend([{ limit: 'Orders', id: 'one' }]);
  // oxlint-disable-next-line no-await-in-loop
  await sleep(5);
}
const waiting = limiter.spend([{ limit: 'Orders', id: 'one' }]);
await limiter.close();
await store.close();
await waiting;
process.channel?.unref();
process.send?.(client?.status ?? 'ours');
