// Serves the limiters that have a store of ours on one Redis, and sends each as many requests as it is told.
import { redisStore } from '@sluice/redis';
// oxlint-disable-next-line import/no-unassigned-import -- for what follows
import './typescript.mjs';

const { ENTRIES } = await import('../../contract/drop-in/entries.ts');

const [url = '', requests] = process.argv.slice(2);
const store = redisStore({ url, log: false });
await store.ready();
// On a busy machine a process may have to wait for its turn; who is admitted is not a matter of that.
const failure = { deadlineMs: 20_000 };

const asks = await Promise.all(
  ENTRIES.map(({ serve }, i) => serve({ limit: 30, windowMs: 3_600_000, store, name: `process-${i}`, failure })),
);

process.once('message', () => {
  const all = asks.map(async (ask) => {
    const answers = await Promise.all(Array.from({ length: Number(requests) }, () => ask('203.0.113.7')));
    return answers.map(({ status }) => status);
  });
  void Promise.all(all).then((statuses) => process.send?.(statuses, () => process.exit()));
});
process.send?.('ready');
