import { accountId, createLimiter, memoryStore, type Store } from '@sluice/core';
import { quota } from '@sluice/core/quota';
import { storeGuard } from '@sluice/core/store';
import { FakeTime } from '@sluice/core/testing';
import { describe, expect, test } from 'vitest';
import { limiterOnFakeTime } from '../support/limiter-on-fake-time.ts';
import { rejected } from '../support/thrown.ts';

const JUNE_30 = Date.UTC(2026, 5, 30, 12);
const june = { start: new Date(Date.UTC(2026, 5, 1)), end: new Date(Date.UTC(2026, 6, 1)) };
const MONTHLY = { limit: 'Monthly', id: '7' } as const;

function setup(options: Parameters<typeof limiterOnFakeTime>[1] = {}) {
  const made = limiterOnFakeTime(
    { Monthly: { count: 10, per: 'month' }, Daily: { count: 5, per: 'day' }, Often: { count: 5, period: '1s' } },
    options,
  );
  made.time.setWall(JUNE_30);
  return { ...made, usage: (id = '7') => made.limiter.usage([{ limit: 'Monthly', id }]) };
}

test('usage returns what was used in the current period, and takes nothing', async () => {
  const { limiter, usage, time } = setup();
  void limiter.spend([{ ...MONTHLY, cost: 3 }]);
  const expected = [{ limit: 'Monthly', id: '7', used: 3, count: 10, remaining: 7, ...june }];
  expect(await Promise.all([usage(), usage()])).toEqual([expected, expected]);
  time.setWall(june.end.getTime());
  expect(await usage()).toMatchObject([{ used: 0, remaining: 10, start: june.end }]);
});

test('usage has one object for each entry, in their order', async () => {
  const { limiter } = setup({ overrides: { Monthly: { '8': 'unlimited', '9': 'blocked' } } });
  void limiter.spend([{ limit: 'Daily', id: '7' }]);
  const ids = ['8', '7', '9'].map((id) => ({ limit: 'Monthly', id }));
  expect(await limiter.usage([...ids, { limit: 'Daily', id: '7' }])).toMatchObject([
    { id: '8', used: 0, count: Infinity, remaining: Infinity, ...june },
    { id: '7', used: 0, count: 10, remaining: 10 },
    { id: '9', used: 0, count: 0, remaining: 0, ...june },
    { limit: 'Daily', id: '7', used: 1, count: 5, start: new Date(Date.UTC(2026, 5, 30)) },
  ]);
  expect(await limiter.usage([])).toEqual([]);
});

test('usage may exceed a quota that was lowered, and has the id in its canonical spelling', async () => {
  const { limiter, usage } = setup();
  void limiter.spend([{ ...MONTHLY, cost: 9 }]);
  limiter.replace({ limits: { Monthly: quota({ key: accountId(), count: 4, per: 'month' }) } });
  expect(await usage()).toMatchObject([{ used: 9, count: 4, remaining: 0 }]);
});

test.each(['second', 'minute', 'hour', 'day', 'month'] as const)(
  'usage is the whole count of a %s when the clock has stepped back into a past one',
  async (per) => {
    const { limiter, time } = limiterOnFakeTime({ Quota: { count: 10, per } });
    time.setWall(june.end.getTime());
    void limiter.spend([{ limit: 'Quota', id: '7' }]);
    time.setWall(june.end.getTime() - 1);
    expect(await limiter.usage([{ limit: 'Quota', id: '7' }])).toMatchObject([{ used: 10, count: 10, remaining: 0 }]);
  },
);

test('usage may exceed a quota that was lowered by almost all of the most tokens of a period', async () => {
  const { limiter } = limiterOnFakeTime({ Quota: { count: 86_400_000_000, per: 'day' } });
  void limiter.spend([{ limit: 'Quota', id: '7', cost: 86_400_000_000 }]);
  limiter.replace({ limits: { Quota: quota({ key: accountId(), count: 1, per: 'day' }) } });
  expect(await limiter.usage([{ limit: 'Quota', id: '7' }])).toMatchObject([{ used: 86_400_000_000, remaining: 0 }]);
});

test('wrong entries are errors', async () => {
  const { limiter } = setup();
  const error = await rejected(() => limiter.usage([{ limit: 'Often', id: '7' }]));
  expect(error.code).toBe('ERR_OPTION');
  expect(error.message).toBe(
    '`usage` must be given limits that are quotas, but "Often" is another kind of limit. To see what is left of it without taking anything, ' +
      "use check([{ limit: 'Often', id }]).",
  );
  expect((await rejected(() => limiter.usage([MONTHLY, MONTHLY]))).code).toBe('ERR_DUPLICATE_BUCKET');
  expect((await rejected(() => limiter.usage([{ ...MONTHLY, cost: 1 } as never]))).message).toContain(
    'usage takes nothing.',
  );
  expect((await rejected(() => limiter.usage([{ limit: 'None', id: '7' }]))).code).toBe('ERR_UNKNOWN_LIMIT');
  void limiter.close();
  expect((await rejected(() => limiter.usage([MONTHLY]))).code).toBe('ERR_CLOSED');
});

describe('a store that can fail', () => {
  const failing = (onFailure: 'local' | 'open') => {
    const time = new FakeTime();
    time.setWall(JUNE_30);
    const local = memoryStore({ time });
    const state = { broken: false };
    const store: Store = {
      guard: storeGuard,
      traits: { periods: true },
      run: async (operation) => {
        if (state.broken) throw new Error('no connection');
        return local.run(operation);
      },
      close: () => undefined,
    };
    const limits = { Monthly: quota({ key: accountId(), count: 10, per: 'month' }) } as const;
    return { state, limiter: createLimiter({ limits, store, time, log: false, failure: { onFailure } }) };
  };

  test.each(['local', 'open'] as const)('and fails is an error, also with the policy %s', async (onFailure) => {
    const { state, limiter } = failing(onFailure);
    await limiter.spend([MONTHLY]);
    expect(await limiter.usage([MONTHLY])).toMatchObject([{ used: 1, ...june }]);
    state.broken = true;
    for (let i = 0; i < 5; i++) {
      // oxlint-disable-next-line no-await-in-loop -- until the breaker is open
      const error = await rejected(() => limiter.usage([MONTHLY]));
      expect(error).toMatchObject({ code: 'ERR_STORE_UNAVAILABLE', cause: { message: 'no connection' } });
    }
  });
});
