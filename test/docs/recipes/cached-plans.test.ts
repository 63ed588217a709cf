import type { Override } from '@sluice/core';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { cachedPlans } from '../code/recipes/plans-by-database.ts';

const pro: Override = { count: 600, period: '1m' };
const team: Override = { count: 3000, period: '1m' };

let nowMs: number;

/** lru-cache reads the clock of `performance`, and remembers what it read for a millisecond, by a timer. */
function pass(ms: number): void {
  nowMs += ms;
  vi.advanceTimersByTime(ms);
}

beforeEach(() => {
  nowMs = 1;
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  vi.spyOn(performance, 'now').mockImplementation(() => nowMs);
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

type Answer = Override | undefined;

/** The plans of a database that answers when a test says so. */
function asked() {
  const queries: { account: string; answer: (plan: Answer) => void; fail: () => void }[] = [];
  const plans = cachedPlans({
    planOf: (account) =>
      new Promise((answer, reject) => {
        queries.push({ account, answer, fail: () => reject(new Error('down')) });
      }),
  });
  const planOf = async (account: string): Promise<Answer> => (await plans.fetch(account))?.plan;
  const known = async (account: string, plan: Answer): Promise<void> => {
    const first = planOf(account);
    queries.at(-1)!.answer(plan);
    await first;
  };
  return { plans, planOf, known, queries };
}

it('seven requests of an account share a query', async () => {
  const { planOf, queries } = asked();
  const all = Promise.all(Array.from({ length: 7 }, () => planOf('acme')));
  queries[0]!.answer(pro);
  expect([new Set(await all), queries.length]).toEqual([new Set([pro]), 1]);
});

it('an answer is used for a minute, also the one that an account has no plan', async () => {
  const { planOf, known, queries } = asked();
  await known('acme', pro);
  await known('others', undefined);
  pass(59_999);
  expect([await planOf('acme'), await planOf('others'), queries.length]).toEqual([pro, undefined, 2]);
});

it('an older answer is used while one query brings the next', async () => {
  const { planOf, known, queries } = asked();
  await known('acme', pro);
  pass(60_001);
  expect(await Promise.all([planOf('acme'), planOf('acme')])).toEqual([pro, pro]);
  expect(queries).toHaveLength(2);
  queries[1]!.answer(team);
  await vi.waitFor(async () => expect(await planOf('acme')).toBe(team));
  expect(queries).toHaveLength(2);
});

it('a failure leaves the older answer in use, and is one query in a second', async () => {
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
  const { planOf, known, queries } = asked();
  await known('acme', pro);
  pass(60_001);
  await planOf('acme');
  queries[1]!.fail();
  await vi.waitFor(() => expect(warn).toHaveBeenCalledOnce());
  expect([await planOf('acme'), await planOf('acme'), queries.length]).toEqual([pro, pro, 2]);
  pass(1001);
  expect([await planOf('acme'), queries.length]).toEqual([pro, 3]);
  const unknown = planOf('new');
  queries.at(-1)!.fail();
  expect([await unknown, await planOf('new'), queries.length]).toEqual([undefined, undefined, 4]);
});

it('an answer that was asked for before a change is given to those who wait for it, and not kept', async () => {
  const { plans, planOf, queries } = asked();
  const before = planOf('acme');
  plans.delete('acme');
  const after = planOf('acme');
  queries[0]!.answer(pro);
  queries[1]!.answer(team);
  expect([await before, await after, await planOf('acme'), queries.length]).toEqual([pro, team, team, 2]);
});

it('at most fifty thousand answers are kept, those that were used last', async () => {
  const { plans, known } = asked();
  await known('acme', pro);
  for (let i = 0; i < 50_000; i++) plans.set(`account-${i}`, { plan: undefined });
  expect([plans.size, plans.has('acme'), plans.has('account-49999')]).toEqual([50_000, false, true]);
});
