import { rateLimitStore } from '@sluice/drop-in/express-rate-limit';
import { expect, test } from 'vitest';
import { workedMs } from '../../worked-ms.ts';

// In a map, texts of more than 16,383 characters that are equally long are a list: these took minutes.
test('keys of 200 kB, of which tokens are given back, take seconds', async () => {
  const store = rateLimitStore({ name: 'LongKeys' });
  store.init({ windowMs: 60_000, limit: 2, skipFailedRequests: true, skipSuccessfulRequests: false });
  const keys = Array.from({ length: 2000 }, (_, i) => `${i}`.padStart(200_000, 'x'));
  const before = workedMs();
  for (const key of keys) {
    await store.increment(key);
    await store.decrement(key);
  }
  expect(workedMs() - before).toBeLessThan(20_000);
  expect(await store.get(keys[0]!)).toBeUndefined();
  expect((await store.increment(keys[1]!)).totalHits).toBe(1);
  await store.shutdown?.();
});
