import { accountId, createLimiter, everyone, type LimitDefinition } from '@sluice/core';
import { counts } from '@sluice/core/metrics';
import { FakeTime } from '@sluice/core/testing';
import { describe, expect, test } from 'vitest';
import type { Restriction } from '../../src/limiter/restriction.ts';
import { limiterOnFakeTime } from '../support/limiter-on-fake-time.ts';
import { rejects, ScriptedStore } from '../failure/support/scripted-store.ts';
import { limitOf } from '../support/limit-of.ts';

const key = accountId();

function api(numbers: object = {}) {
  const time = new FakeTime();
  const definition = { key, burst: 10, count: 1, period: '1s', ...numbers } as LimitDefinition;
  const limiter = createLimiter({ limits: { Api: definition }, time, log: false });
  return {
    limiter,
    time,
    restrict: async (known: Restriction, id = '7') => (await limiter.restrict([{ limit: 'Api', id, ...known }]))[0],
    look: (cost = 1) => limiter.checkSync([{ limit: 'Api', id: '7', cost }]),
  };
}

describe('a restriction', () => {
  test('lets a request of cost 1 wait as long as was learnt, and not a microsecond less', async () => {
    const { restrict, look, time } = api();
    await restrict({ forMs: 2000 });
    expect(look()).toMatchObject({ allowed: false, retryAfterMs: 2000 });
    time.advance(1999.999);
    expect(look().allowed).toBe(false);
    time.advance(0.001);
    expect(look().allowed).toBe(true);
  });

  test('leaves as many tokens as remain elsewhere', async () => {
    const { restrict, look } = api();
    expect(await restrict({ remaining: 3 })).toMatchObject({ limit: 'Api', id: '7', remaining: 3, resetAfterMs: 7000 });
    expect(look(3).allowed).toBe(true);
    expect(look(4).allowed).toBe(false);
  });

  test('by both holds the stricter one', async () => {
    const [tokens, wait] = [api(), api()];
    await tokens.restrict({ remaining: 0, forMs: 500 });
    expect(tokens.look().retryAfterMs).toBe(1000);
    await wait.restrict({ remaining: 5, forMs: 500 });
    expect(wait.look().retryAfterMs).toBe(500);
  });

  test('that eight workers learn at once lets clients wait once', async () => {
    const { restrict, look } = api();
    for (let worker = 0; worker < 8; worker++) await restrict({ forMs: 30_000 });
    expect(look().retryAfterMs).toBe(30_000);
  });

  test('never adds tokens: the present level holds if it is higher', async () => {
    const { restrict, look } = api();
    await restrict({ forMs: 5000 });
    await restrict({ forMs: 100 });
    await restrict({ remaining: 10 });
    await restrict({ remaining: 1000 });
    expect(look().retryAfterMs).toBe(5000);
  });

  test('may exceed what an empty bucket and its maxDebt need', async () => {
    const { restrict, look, limiter } = api({ maxDebt: 2 });
    await restrict({ forMs: 3_600_000 });
    expect(look().retryAfterMs).toBe(3_600_000);
    await limiter.charge([{ limit: 'Api', id: '7', cost: 5 }]);
    expect(look().retryAfterMs).toBe(3_600_000);
  });

  test('is ended by a reset', async () => {
    const { restrict, look, limiter } = api();
    await restrict({ forMs: 60_000 });
    await limiter.reset([{ limit: 'Api', id: '7' }]);
    expect(look()).toMatchObject({ allowed: true, remaining: 10 });
  });

  test('may be shortened by a raise', async () => {
    const { restrict, look, limiter } = api();
    await restrict({ forMs: 1000 });
    limiter.replace({ limits: { Api: { key, burst: 10, count: 10, period: '1s' } } });
    expect(look().allowed).toBe(false);
    expect(look().retryAfterMs).toBeLessThanOrEqual(1000);
  });

  test('is the delay of a request that may wait', async () => {
    const { restrict, limiter } = api({ maxWait: '10s' });
    await restrict({ forMs: 2000 });
    expect(limiter.spendSync([{ limit: 'Api', id: '7' }])).toMatchObject({ allowed: true, delayMs: 2000 });
  });

  test('leaves out unlimited and blocked ids', async () => {
    const limiter = createLimiter({
      limits: { Api: { key, count: 1, period: '1s' } },
      overrides: { Api: { 1: 'unlimited', 2: 'blocked', 3: { count: 10, period: '1s' } } },
    });
    const all = ['1', '2', '3'].map((id) => ({ limit: 'Api', id, remaining: 0 }) as const);
    expect(await limiter.restrict(all)).toMatchObject([{ id: '3', burst: 10, remaining: 0, resetAfterMs: 1000 }]);
  });

  test('by a handle names no limit, and where there is one bucket no id', async () => {
    const limits = { Api: { key: everyone(), count: 1, period: '1s' }, Accounts: { key, count: 1, period: '1s' } };
    const limiter = createLimiter({ limits, time: new FakeTime() });
    expect(await limiter.limit('Api').restrict({ forMs: 500 })).toMatchObject({ id: 'everyone', resetAfterMs: 500 });
    expect(await limiter.limit('Accounts').restrict('7', { forMs: 500 })).toMatchObject({ id: '7', resetAfterMs: 500 });
    await expect(limiter.limit('Accounts').restrict({ forMs: 500 })).rejects.toThrow('`id` of limit "Accounts"');
  });
});

test('a restriction is counted by the tokens that it took', async () => {
  const { limiter } = limiterOnFakeTime({ Orders: { count: 10, period: '10s' } });
  counts(limiter);
  await limiter.restrict([{ limit: 'Orders', id: '7', remaining: 4 }]);
  await limiter.restrict([{ limit: 'Orders', id: '7', remaining: 4 }]);
  await limiter.restrict([{ limit: 'Orders', id: '7', remaining: 1 }]);
  expect(counts(limiter).limits['Orders']!.tokens).toMatchObject({ restricted: 9, charged: 0, taken: 0 });
});

describe('while the store fails', () => {
  function failing(onFailure: 'local' | 'open') {
    const time = new FakeTime();
    const limits = { Api: { key, burst: 10, count: 1, period: '1s', onFailure } } as const;
    const store = new ScriptedStore(rejects(new Error('down')));
    const events: string[] = [];
    const onEvent = ({ type }: { type: string }): void => void events.push(type);
    return { events, limiter: createLimiter({ limits, store, time, log: false, onEvent, failure: { gateways: 4 } }) };
  }

  test('a local bucket is restricted for at least as long', async () => {
    const { limiter } = failing('local');
    await limiter.restrict([{ limit: 'Api', id: '7', forMs: 2500 }]);
    const { allowed, retryAfterMs } = await limiter.check([{ limit: 'Api', id: '7' }]);
    expect(allowed).toBe(false);
    expect(retryAfterMs).toBeGreaterThanOrEqual(2500);
  });

  test('a restriction of another limit is lost, with an event', async () => {
    const { limiter, events } = failing('open');
    expect(await limiter.restrict([{ limit: 'Api', id: '7', forMs: 2500 }])).toEqual([]);
    expect(events).toContain('charge-lost');
  });
});

const refused = {
  'a quota': { key, count: 10, per: 'day' },
  'a concurrency limit': { key, concurrency: 10 },
  'a limit with an overshoot': { key, count: 10, period: '1s', overshoot: 0.1 },
  'a limit that borrows': {
    key,
    count: 1,
    period: '1s',
    borrow: { from: 'Pool', ceiling: { count: 2, period: '1s' } },
  },
} as const;

test.each(Object.entries(refused))('%s cannot be restricted', async (_, definition) => {
  const limiter = createLimiter({
    limits: { Pool: { key: everyone(), count: 10, period: '1s' }, Api: limitOf(definition) },
  });
  await expect(limiter.restrict([{ limit: 'Api', id: '7', forMs: 1 }])).rejects.toMatchObject({
    code: 'ERR_OPTION',
    message: expect.stringMatching(/`restrict` must not be given the limit "Api", because .* Define such a rate/),
  });
});

test.each([
  [{}, '`restrict.forMs` must be a whole number from 0 to 3600000, but was undefined'],
  [{ forMs: 3_600_001 }, '`restrict.forMs` must be a whole number from 0 to 3600000'],
  [{ forMs: -1 }, '`restrict.forMs` must be a whole number from 0 to 3600000'],
  [{ forMs: NaN }, '`restrict.forMs` must be a whole number from 0 to 3600000'],
  [{ forMs: '2s' }, 'Write forMs: 2000.'],
  [{ remaining: 0.5 }, '`restrict.remaining` must be a whole number'],
  [{ remaining: -1 }, '`restrict.remaining` must be a whole number'],
  [{ remaining: 1, cost: 2 }, 'To take tokens use charge'],
])('a restriction to %j is an error', async (known, message) => {
  const { restrict, look } = api();
  await expect(restrict(known as Restriction)).rejects.toThrow(message);
  expect(look().remaining).toBe(10);
});
