import { describe, expect, test } from 'vitest';
import { accountId } from '../../../src/keys/key.ts';
import { createLimiter } from '../../../src/limiter/create-limiter.ts';
import { memoryStore } from '../../../src/store/memory/memory-store.ts';
import { FakeTime } from '../../../src/testing/fake-time.ts';
import { sized } from '../../../../../test/sized.ts';

const MAX_KEYS = sized(10_000, 50_000);
const EXHAUSTED = 200;
const FLOOD = (MAX_KEYS * 6) / 5;

/** One store: logins that are tried too often, mails of which a flood of new ids comes, and a limit of burst 1. */
function beside() {
  const store = memoryStore({ maxKeys: MAX_KEYS, time: new FakeTime() });
  const limiter = createLimiter({
    limits: {
      Logins: { key: accountId(), count: 5, period: '15m' },
      Mails: { key: accountId(), count: 2, period: '1d' },
      Posters: { key: accountId(), count: 1, period: '365d' },
    },
    store,
    log: false,
  });
  const spend = (limit: 'Logins' | 'Mails' | 'Posters', id: string, cost = 1) =>
    void limiter.spend([{ limit, id, cost }]);
  return {
    store,
    exhaust: () => {
      for (let i = 0; i < EXHAUSTED; i++) spend('Logins', `victim${i}`, 5);
    },
    flood: (limit: 'Logins' | 'Mails' | 'Posters', from = 0, to = FLOOD) => {
      for (let i = from; i < to; i++) spend(limit, `flood${i}`);
    },
    fresh: async () => {
      let count = 0;
      for (let i = 0; i < EXHAUSTED; i++) {
        const { remaining } = await limiter.check([{ limit: 'Logins', id: `victim${i}` }]);
        if (remaining > 0) count++;
      }
      return count;
    },
  };
}

describe('fresh ids, more than the store may have, of a limit of 2 a day evict none of 200 exhausted buckets of 5 in 15 minutes', () => {
  test('when the flood follows', async () => {
    const { exhaust, flood, fresh } = beside();
    exhaust();
    flood('Mails');
    expect(await fresh()).toBe(0);
  });

  test('when the store is full of them already', async () => {
    const { exhaust, flood, fresh } = beside();
    flood('Mails');
    exhaust();
    flood('Mails', FLOOD, 2 * FLOOD);
    expect(await fresh()).toBe(0);
  });

  test.each([
    ['Mails', 'Posters'],
    ['Posters', 'Mails'],
  ] as const)('when floods of %s and of %s follow each other', async (one, other) => {
    const { store, exhaust, flood, fresh } = beside();
    flood(one);
    exhaust();
    flood(other);
    flood(one, FLOOD, 2 * FLOOD);
    expect(await fresh()).toBe(0);
    expect(store.stats().size).toBe(MAX_KEYS);
  });

  test('when there are two floods at once', async () => {
    const { exhaust, flood, fresh } = beside();
    exhaust();
    for (let i = 0; i < FLOOD; i++) {
      flood('Mails', i, i + 1);
      flood('Posters', i, i + 1);
    }
    expect(await fresh()).toBe(0);
  });
});
