// An operator's script: waits for the store, looks at one bucket, closes, and does nothing more.
import { accountId, createLimiter } from '@sluice/core';
import { redisStore } from '@sluice/redis';

const [port, timeoutMs] = process.argv.slice(2);
const store = redisStore({ url: `redis://127.0.0.1:${port}`, log: false });
const limiter = createLimiter({
  limits: { Orders: { key: accountId(), count: 5, period: '1h' } },
  store,
  failure: { deadlineMs: 1000 },
  log: false,
});
let outcome;
try {
  await limiter.ready({ timeoutMs: Number(timeoutMs) });
  const { remaining, failure } = await limiter.check([{ limit: 'Orders', id: 'one' }]);
  outcome = failure === undefined ? remaining : 'by policy';
} catch (error) {
  outcome = /** @type {{ code: string }} */ (error).code;
} finally {
  await limiter.close();
  await store.close();
}
process.channel?.unref();
process.send?.(outcome);
