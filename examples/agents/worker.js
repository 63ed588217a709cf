import { once } from 'node:events';
import { limitedFetch } from '@sluice/outgoing';
import { limiter, scheduler, store } from './limits.js';

const { PROVIDER_URL = '', CALLS, ALONE, KEY = 'one-key' } = process.env;

// An SDK takes it as its option `fetch`.
const call = ALONE === '1' ? fetch : limitedFetch({ scheduler, within: '2m' });

await limiter.ready();
process.send?.('ready');
await once(process, 'message');

/** All at once, as sub-agents and tools do. */
const calls = Array.from({ length: Number(CALLS) }, async () => {
  const answer = await call(PROVIDER_URL, { headers: { authorization: KEY } });
  await answer.text();
});
await Promise.all(calls);

await scheduler.close();
await limiter.close();
await store.close();
process.disconnect();
