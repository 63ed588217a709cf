import { accountId, createLimiter } from '@sluice/core';
import { concurrency } from '@sluice/core/concurrency';
import { load as loadLimit, type LoadSource } from '@sluice/core/load';
import { expect, test } from 'vitest';

test('a blocked id denies before a busy worker, that before own slots, and those before the store', () => {
  const now = { blocked: true, busy: true };
  const load: LoadSource = {
    level: 1,
    start: () => ({ sheds: () => now.busy, retryAfterMs: () => 1000, stop: () => undefined }),
  };
  const key = accountId();
  const limiter = createLimiter({
    limits: {
      Rate: { key, count: 1, period: '1h' },
      Slots: concurrency({ key, concurrency: 1, scope: 'process' }),
      Worker: loadLimit({ key, load }),
    },
    overrides: (limit) => (limit === 'Rate' && now.blocked ? 'blocked' : undefined),
    log: false,
  });
  const named = ['Rate', 'Slots', 'Worker'] as const;
  const deniedBy = (): readonly string[] =>
    limiter
      .spendSync(
        named.map((limit) => ({ limit, id: 'a' })),
        { hold: true },
      )
      .results.map(({ limit }) => limit);
  expect(deniedBy()).toEqual(['Rate']);
  now.blocked = false;
  expect(deniedBy()).toEqual(['Worker']);
  now.busy = false;
  // Nothing was taken until now: this request passes, and holds the slot.
  expect(deniedBy()).toEqual(['Rate', 'Slots']);
  expect(deniedBy()).toEqual(['Slots']);
});
