import { expect, test } from 'vitest';
import type { Limiter } from '@sluice/core';
import { createLimiter, everyone, accountId } from '@sluice/core';
import { concurrency as concurrencyLimit } from '@sluice/core/concurrency';
import { rejected, thrown } from '../../../support/thrown.ts';
import { fill, holding, limitsOf, slot } from './support/holding.ts';

const IN_FLIGHT = { InFlight: { concurrency: 3 } };

test('at most as many requests as the limit says hold a slot at once, and each that is released lets another in', async () => {
  const { hold } = holding(IN_FLIGHT);
  const all = await fill(() => hold(slot()));
  expect(all).toHaveLength(3);
  await all.at(1)?.release();
  expect(await fill(() => hold(slot()))).toHaveLength(1);
});

test('a hold is allowed with the slots that are left, and denied for one second', () => {
  const { hold } = holding(IN_FLIGHT);
  expect(hold(slot(), slot({ id: 'b', cost: 3 })).results).toMatchObject([
    {
      limit: 'InFlight',
      id: 'a',
      allowed: true,
      spent: 1,
      remaining: 2,
      burst: 3,
      retryAfterMs: 0,
      resetAfterMs: 1000,
    },
    { limit: 'InFlight', id: 'b', allowed: true, spent: 3, remaining: 0 },
  ]);
  expect(hold(slot({ id: 'b' }))).toMatchObject({
    outcome: 'denied',
    remaining: 0,
    retryAfterMs: 1000,
    resetAfterMs: 1000,
  });
});

test('every id has slots of its own', async () => {
  const { hold } = holding(IN_FLIGHT);
  await fill(() => hold(slot()));
  expect(hold(slot({ id: 'b' })).remaining).toBe(2);
});

test('a decision is released once: a second release, of its own or by `await using`, does nothing', async () => {
  const { hold, inStore } = holding(IN_FLIGHT);
  const others = [hold(slot()), hold(slot())];
  {
    await using held = hold(slot());
    expect(inStore()).toBe(3);
    await held.release();
    await held.release();
    expect(inStore()).toBe(2);
  }
  expect(inStore()).toBe(2);
  await Promise.all(others.map((other) => other.release()));
  expect(inStore()).toBe(0);
});

test('`await using` releases at the end of its block, also when the block throws', async () => {
  const { hold, inStore } = holding(IN_FLIGHT);
  const work = async () => {
    await using held = hold(slot());
    expect(held.allowed).toBe(true);
    expect(inStore()).toBe(1);
    throw new Error('failed');
  };
  await expect(work()).rejects.toThrow('failed');
  expect(inStore()).toBe(0);
});

test('a denied decision holds nothing, and its release does nothing', async () => {
  const { hold, inStore } = holding(IN_FLIGHT);
  await fill(() => hold(slot()));
  const denied = hold(slot());
  await denied.release();
  expect(inStore()).toBe(3);
});

test('a cost is a number of slots, which are taken and released together', async () => {
  const { hold, inStore } = holding(IN_FLIGHT);
  const two = hold(slot({ cost: 2 }));
  expect(hold(slot({ cost: 2 })).allowed).toBe(false);
  expect(inStore()).toBe(2);
  await two.release();
  expect(inStore()).toBe(0);
});

test('a cost above the limit is an error, because it could never pass', () => {
  const { hold } = holding(IN_FLIGHT);
  expect(thrown(() => hold(slot({ cost: 4 })))).toMatchObject({ code: 'ERR_COST_OVER_BURST' });
});

test('a cost of 0 passes at a full limit and holds nothing', async () => {
  const { hold, inStore, time } = holding(IN_FLIGHT);
  await fill(() => hold(slot()));
  const nothing = hold(slot({ cost: 0 }));
  expect(nothing).toMatchObject({ allowed: true, remaining: 0 });
  await nothing.release();
  expect(inStore()).toBe(3);
  time.advance(60_000);
  expect(inStore()).toBe(3);
});

test('a request with a share leaves the rest of the slots to others', async () => {
  const { hold } = holding({ InFlight: { concurrency: 10 } });
  expect(await fill(() => hold(slot({ share: 0.8 })))).toHaveLength(8);
  expect(await fill(() => hold(slot()))).toHaveLength(2);
});

test.each([
  [3, 0.5, 1],
  [7, 0.8, 5],
  [10, 0.35, 3],
  // As doubles, these products are a little too small.
  [100, 0.29, 29],
  [1000, 0.57, 570],
])('of %i slots a share of %f is %i: never more than it says', async (concurrency, share, most) => {
  const { hold } = holding({ InFlight: { concurrency } });
  expect(await fill(() => hold(slot({ share })))).toHaveLength(most);
});

test('`spend-only` holds a slot if there is one, and lets the request through in any case', async () => {
  const { hold, inStore } = holding({ InFlight: { concurrency: 1 } });
  const spendOnly = slot({ mode: 'spend-only' });
  const first = hold(spendOnly);
  const second = hold(spendOnly);
  expect([first, second]).toMatchObject([
    { allowed: true, results: [{ spent: 1 }] },
    { allowed: true, results: [{ spent: 0 }] },
  ]);
  await second.release();
  expect(inStore()).toBe(1);
  await first.release();
  expect(inStore()).toBe(0);
});

test('`check-only` denies at a full limit, and holds nothing', async () => {
  const { hold, inStore } = holding({ InFlight: { concurrency: 1 } });
  const checkOnly = slot({ mode: 'check-only' });
  expect(hold(checkOnly)).toMatchObject({ allowed: true, results: [{ spent: 0 }] });
  expect(inStore()).toBe(0);
  hold(slot());
  expect(hold(checkOnly).allowed).toBe(false);
});

test('`check` makes the same decision and holds nothing', async () => {
  const { limiter, hold, inStore } = holding({ ...IN_FLIGHT, Here: { concurrency: 1, scope: 'process' } });
  const entries = [slot({ cost: 2 }), slot({ limit: 'Here' })];
  expect(await limiter.check(entries)).toMatchObject({ allowed: true, results: [{ remaining: 3 }, { remaining: 1 }] });
  hold(...entries);
  expect(await limiter.check(entries)).toMatchObject({ allowed: false, results: [{ limit: 'Here', remaining: 0 }] });
  expect(await limiter.check([slot({ cost: 2 })])).toMatchObject({ allowed: false, remaining: 1 });
  expect(inStore()).toBe(2);
});

test('unlimited and disabled ids hold nothing, and blocked ones are denied, without a slot of another limit', () => {
  const { limiter, hold, inStore } = holding(
    { ...IN_FLIGHT, Off: { concurrency: 1, disabled: true }, Other: { concurrency: 1 } },
    { overrides: { InFlight: { free: 'unlimited', bad: 'blocked' } } },
  );
  expect(hold(slot({ id: 'free' }), slot({ limit: 'Off' }))).toMatchObject({ allowed: true, limit: null, results: [] });
  expect(hold(slot({ id: 'bad' }), slot({ limit: 'Other' }))).toMatchObject({ outcome: 'denied', blocked: true });
  expect(inStore('Other')).toBe(0);
  expect(limiter.checkSync([slot({ limit: 'Other' })]).allowed).toBe(true);
});

test('an override changes the number of slots of an id', async () => {
  const { hold } = holding(IN_FLIGHT, { overrides: { InFlight: { b: { concurrency: 5 } } } });
  expect(await fill(() => hold(slot({ id: 'b' })))).toHaveLength(5);
});

test('a batch without any limit in effect is allowed, and its release does nothing', async () => {
  const { hold } = holding(IN_FLIGHT);
  const held = hold();
  expect(held.allowed).toBe(true);
  await held.release();
});

test('a call with alternatives, or with a wrong entry, is an error', async () => {
  const { limiter } = holding(IN_FLIGHT);
  expect(await rejected(() => limiter.spend({ firstOf: [[slot()]] }, { hold: true }))).toMatchObject({
    code: 'ERR_OPTION',
  });
  expect(await rejected(() => limiter.spend([slot({ mode: 'charge' })], { hold: true }))).toMatchObject({
    code: 'ERR_OPTION',
  });
  expect(await rejected(() => limiter.spend([slot(), slot()], { hold: true }))).toMatchObject({
    code: 'ERR_DUPLICATE_BUCKET',
  });
  expect(await rejected(() => limiter.spend([slot({ limit: 'Nothing' })], { hold: true }))).toMatchObject({
    code: 'ERR_UNKNOWN_LIMIT',
  });
});

test('limits that only count tokens can be held, too: there is nothing to release', async () => {
  const { hold } = holding({ Orders: { count: 1, period: '1h' } });
  const held = hold(slot({ limit: 'Orders' }));
  expect(held.allowed).toBe(true);
  await held.release();
  expect(hold(slot({ limit: 'Orders' })).allowed).toBe(false);
});

test('the names of the limits are checked by the compiler', async () => {
  const limiter: Limiter<unknown, 'InFlight'> = createLimiter({
    limits: { InFlight: concurrencyLimit({ key: accountId(), concurrency: 1 }) },
  });
  // @ts-expect-error -- no such limit
  expect(await rejected(() => limiter.spend([{ limit: 'Inflight', id: 'a' }], { hold: true }))).toMatchObject({
    code: 'ERR_UNKNOWN_LIMIT',
  });
});

test('the slots of `everyone` are shared by all clients', () => {
  const { limiter, hold } = holding({});
  limiter.replace({ limits: { ...limitsOf({}), Fleet: concurrencyLimit({ key: everyone(), concurrency: 1 }) } });
  hold({ limit: 'Fleet', id: 'everyone' });
  expect(hold({ limit: 'Fleet', id: 'everyone' }).allowed).toBe(false);
});
