import { memoryStore } from '@sluice/core';
import { expect, test } from 'vitest';
import { sized } from '../../sized.ts';
import { COUNTERS, flood } from './counters.ts';

const KEYS = sized(3000, 1_000_000);

test.each(COUNTERS)(
  `behind %s, ${KEYS} clients leave a denied client of another limiter denied, and the store at its size`,
  async (_name, counter) => {
    const maxKeys = KEYS / 10;
    const store = memoryStore({ maxKeys });
    const options = { store, windowMs: 3_600_000, failure: { onFailure: 'closed', deadlineMs: 1000 } } as const;
    const login = counter({ ...options, name: 'login', limit: 2 });
    const others = counter({ ...options, name: 'others', limit: 1 });
    expect([await login('k'), await login('k'), await login('k')]).toEqual([true, true, false]);
    await flood(others, KEYS);
    expect(await login('k')).toBe(false);
    expect(store.stats()).toMatchObject({ size: maxKeys, maxKeys });
  },
);
