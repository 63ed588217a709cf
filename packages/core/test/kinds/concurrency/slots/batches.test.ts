import { accountId, everyone } from '@sluice/core';
import { describe, expect, test } from 'vitest';
import { holding, holdingRemotely, slot, slotsIn } from './support/holding.ts';

const ceiling = { burst: 5, count: 2, period: '1s' };

/** One limit of each kind. Each lets one request through, the concurrency limits ten. */
const LIMITS = {
  InFlight: { concurrency: 10 },
  Here: { concurrency: 10, scope: 'process' },
  Rate: { count: 1, period: '1h' },
  Quota: { count: 1, per: 'month' },
  Queue: { burst: 1, count: 1, period: '10s', maxWait: '10s' },
  Own: { burst: 1, count: 1, period: '1h', borrow: { from: 'Pool', ceiling, fair: false } },
  Pool: { key: everyone(), burst: 2, count: 1, period: '1h' },
};
const SLOTS = ['InFlight', 'Here'] as const;
const TOKENS = ['Rate', 'Quota', 'Queue', 'Own'] as const;
const CAPACITY = { Rate: 1, Quota: 1, Queue: 2, Own: 2 };

const slots = () => SLOTS.map((limit) => slot({ limit }));

describe.each(TOKENS)('with a limit of another kind, %s', (limit) => {
  test('slots are held together with its tokens, or neither', () => {
    const { hold, limiter, inStore } = holding(LIMITS);
    const used = () => SLOTS.map((name) => 10 - limiter.checkSync([slot({ limit: name, cost: 0 })]).remaining);
    for (let i = 1; i <= CAPACITY[limit]; i++) expect(hold(...slots(), slot({ limit })).allowed).toBe(true);
    const before = [used(), inStore()];
    for (const batch of [
      [...slots(), slot({ limit })],
      [slot({ limit }), ...slots()],
    ]) {
      expect(hold(...batch)).toMatchObject({ outcome: 'denied', limit });
      expect([used(), inStore()]).toEqual(before);
    }
    expect(hold(...slots()).allowed).toBe(true);
  });

  test.each(SLOTS)('a denied slot of %s takes none of its tokens', (full) => {
    const { hold, limiter } = holding(LIMITS);
    hold(slot({ limit: full, cost: 10 }));
    const look = () => limiter.checkSync([slot({ limit, cost: 0 })]);
    const before = look();
    for (let i = 0; i < 3; i++)
      expect(hold(slot({ limit }), ...slots())).toMatchObject({ outcome: 'denied', limit: full });
    expect([look().remaining, look().resetAfterMs]).toEqual([before.remaining, before.resetAfterMs]);
  });
});

test('the results of a batch are in its order, whoever has answered them', () => {
  const { hold } = holding(LIMITS);
  const names = ['Here', 'Rate', 'Own', 'InFlight', 'Quota'];
  const { results } = hold(...names.map((limit) => slot({ limit })));
  expect(results.map(({ limit }) => limit)).toEqual(names);
  expect(results.map(({ spent, remaining }) => [spent, remaining])).toEqual([
    [1, 9],
    [1, 0],
    [1, 0],
    [1, 9],
    [1, 0],
  ]);
});

test('a delay of the batch is in the decision, which has its slots meanwhile', () => {
  const { hold, inStore } = holding(LIMITS);
  const entries = [slot(), slot({ limit: 'Here' }), slot({ limit: 'Queue' })];
  expect(hold(...entries).delayMs).toBe(0);
  expect(hold(...entries).delayMs).toBe(10_000);
  expect(inStore()).toBe(2);
});

test('borrowed tokens are held together with slots, also on a remote store', async () => {
  const { hold, inStore, store } = holdingRemotely(LIMITS);
  const entries = [slot({ limit: 'Own' }), slot({ limit: 'Here' }), slot()];
  await hold(...entries);
  store.named();
  const lent = await hold(...entries);
  expect(store.named()).toEqual(['spend']);
  expect(lent.results).toMatchObject([
    { limit: 'Own', borrowed: true, spent: 1 },
    { limit: 'Here' },
    { limit: 'InFlight' },
  ]);
  expect(inStore()).toBe(2);
  await lent.release();
  expect(inStore()).toBe(1);
});

test('a refund gives the tokens of a decision back, once, and keeps its slots', async () => {
  const seen: unknown[] = [];
  const { hold, limiter, inStore } = holding(LIMITS, { onDecision: (decision) => seen.push(decision) });
  const held = hold(slot(), slot({ limit: 'Rate' }), slot({ limit: 'Here' }));
  expect(await limiter.refund(held)).toMatchObject([{ limit: 'Rate', remaining: 1 }]);
  expect([inStore(), held.results.at(0)?.spent]).toEqual([1, 1]);
  // The same decision, as it was reported.
  limiter.spendSync([slot({ limit: 'Rate' })]);
  expect(await limiter.refund(seen[0] as typeof held)).toEqual([]);
  expect(limiter.checkSync([slot({ limit: 'Rate' })]).allowed).toBe(false);
  await held.release();
  expect(inStore()).toBe(0);
});

test('an override that needs time decides the slots after it', async () => {
  const { hold, limiter, store } = holdingRemotely(LIMITS, {
    overrides: async (limit: string) => (limit === 'InFlight' ? { concurrency: 1 } : undefined),
  });
  const all = await Promise.all([hold(slot(), slot({ limit: 'Here' })), hold(slot(), slot({ limit: 'Here' }))]);
  expect(all.map(({ allowed }) => allowed)).toEqual([true, false]);
  expect(await limiter.check([slot({ limit: 'Here' })])).toMatchObject({ remaining: 9 });
  expect(slotsIn(store.memory, 'InFlight')).toBe(1);
});

test('a limit of accounts and one of everybody are held in one batch', () => {
  const { hold } = holding({
    InFlight: { key: accountId(), concurrency: 2 },
    Fleet: { key: everyone(), concurrency: 3 },
  });
  const both = (id: string) => hold(slot({ id }), { limit: 'Fleet', id: 'everyone' });
  expect([both('a'), both('a'), both('a'), both('b'), both('c')].map(({ limit, allowed }) => [limit, allowed])).toEqual(
    [
      ['InFlight', true],
      ['InFlight', true],
      ['InFlight', false],
      ['Fleet', true],
      ['Fleet', false],
    ],
  );
});
