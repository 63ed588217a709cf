import type { Decision, Rate, SpendEntry } from '@sluice/core';
import { describe, expect, test } from 'vitest';
import { accountLimits, limiterOnFakeTime } from '../support/limiter-on-fake-time.ts';
import { callsOf } from '@sluice/core/testing';

type Numbers = Omit<Rate, 'borrow'>;
type Use = Omit<Partial<SpendEntry>, 'limit' | 'id'>;

/** Burst 1 and one token per 100 ms: a queue in front of a backend. */
const SPACED: Numbers = { burst: 1, count: 10, period: '1s', maxWait: '250ms' };

/** A limiter with one limit and one bucket. */
function oneQueue(numbers: Numbers = SPACED, more: Readonly<Record<string, Numbers>> = {}) {
  const { limiter, time, store } = limiterOnFakeTime({ Queue: numbers, ...more });
  const entries = (use: Use): SpendEntry[] => [{ limit: 'Queue', id: '7', ...use }];
  return {
    limiter,
    time,
    store,
    spend: (use: Use = {}): Decision => limiter.spendSync(entries(use)),
    check: (use: Use = {}): Decision => limiter.checkSync(entries(use)),
    charge: async (cost: number) => await limiter.charge([{ limit: 'Queue', id: '7', cost }]),
    refund: async (decision: Decision) => await limiter.refund(decision),
  };
}

const limitsOf = (numbers: Numbers) => accountLimits({ Queue: numbers });
const delaysOf = (decisions: readonly Decision[]) =>
  decisions.map(({ allowed, delayMs }) => (allowed ? delayMs : 'denied'));

describe('the delay of a request', () => {
  test.each<[what: string, numbers: Numbers, costs: number[], delays: unknown[]]>([
    ['burst 1 spaces requests by T', SPACED, [1, 1, 1, 1], [0, 100, 200, 'denied']],
    ['a burst passes at once', { ...SPACED, burst: 3 }, [1, 1, 1, 1, 1, 1], [0, 0, 0, 100, 200, 'denied']],
    ['a cost is waited for as a whole', { ...SPACED, burst: 3 }, [2, 3, 1, 1], [0, 200, 'denied', 'denied']],
    ['a wait of exactly maxWait is allowed', { ...SPACED, maxWait: '100ms' }, [1, 1, 1], [0, 100, 'denied']],
    ['a wait of a microsecond more is denied', { ...SPACED, maxWait: '99.999ms' }, [1, 1], [0, 'denied']],
    ['a wait is rounded up to a microsecond', { ...SPACED, count: 7 }, [1, 1], [0, 142.858]],
    ['a cost of 0 is never delayed', SPACED, [1, 1, 0], [0, 100, 0]],
  ])('%s', (_what, numbers, costs, delays) => {
    const { spend } = oneQueue(numbers);
    expect(delaysOf(costs.map((cost) => spend({ cost })))).toEqual(delays);
  });

  test('falls with time', () => {
    const { spend, time } = oneQueue();
    spend();
    time.advance(70);
    expect(spend().delayMs).toBe(30);
    time.advance(200);
    expect(spend().delayMs).toBe(0);
  });

  test.each<[mode: SpendEntry['mode'], delays: unknown[]]>([
    ['check-and-spend', [100, 200, 'denied']],
    ['check-only', [100, 100, 100]],
    ['spend-only', [100, 200, 0]],
    ['charge', [0, 0, 0]],
  ])('in the mode %s is the time until the tokens that it needs are there', (mode, delays) => {
    const { spend } = oneQueue();
    spend();
    expect(delaysOf([spend({ mode }), spend({ mode }), spend({ mode })])).toEqual(delays);
  });

  test('includes costs that are charged afterwards', async () => {
    const { spend, charge, time } = oneQueue();
    const starts: number[] = [];
    for (let i = 0; i < 4; i++) {
      time.advance(spend({ mode: 'check-only' }).delayMs);
      starts.push(time.nowMs);
      await charge(1);
    }
    expect(starts).toEqual([0, 100, 200, 300]);
  });

  test('of a check is that of a spend, and takes nothing', () => {
    const { spend, check } = oneQueue();
    spend();
    expect([check().delayMs, check().delayMs, spend().delayMs, check().delayMs]).toEqual([100, 100, 100, 200]);
  });

  test('of a batch is the longest of its limits', () => {
    const { limiter } = oneQueue(SPACED, { Slow: { ...SPACED, count: 5 }, Plain: { count: 5, period: '1s' } });
    const batch = (['Queue', 'Slow', 'Plain'] as const).map((limit) => ({ limit, id: '7' }));
    expect(delaysOf([limiter.spendSync(batch), limiter.spendSync(batch)])).toEqual([0, 200]);
    expect(delaysOf([limiter.spendSync(batch.toReversed())])).toEqual(['denied']);
  });

  test('of a batch that another limit denies is 0, and the batch takes no turn in the queue', () => {
    const { limiter, spend } = oneQueue(SPACED, { Plain: { count: 1, period: '1h' } });
    const both = (['Queue', 'Plain'] as const).map((limit) => ({ limit, id: '7' }));
    limiter.spendSync(both);
    expect(limiter.spendSync(both)).toMatchObject({ allowed: false, limit: 'Plain', delayMs: 0 });
    expect(spend().delayMs).toBe(100);
  });

  test('of alternatives is that of the one that passes', () => {
    const { limiter } = oneQueue(SPACED, { Plain: { count: 1, period: '1h' } });
    const firstOf = (['Plain', 'Queue'] as const).map((limit) => [{ limit, id: '7' }]);
    const spend = () => limiter.spendSync({ firstOf });
    expect(delaysOf([spend(), spend(), spend(), spend(), spend()])).toEqual([0, 0, 100, 200, 'denied']);
  });

  test('is 0 without maxWait', () => {
    const { spend } = oneQueue({ burst: 1, count: 10, period: '1s' });
    expect(delaysOf([spend(), spend()])).toEqual([0, 'denied']);
  });
});

describe('the figures of a decision', () => {
  test('remaining counts tokens without a delay, retryAfterMs is the time until the request fits into the queue', () => {
    const { spend, time } = oneQueue({ ...SPACED, burst: 2 });
    expect(spend()).toMatchObject({ remaining: 1, resetAfterMs: 100 });
    expect(spend()).toMatchObject({ remaining: 0, delayMs: 0, resetAfterMs: 200 });
    expect(spend()).toMatchObject({ remaining: 0, delayMs: 100, resetAfterMs: 300 });
    expect(spend()).toMatchObject({ remaining: 0, delayMs: 200, resetAfterMs: 400 });
    const denied = spend();
    expect(denied).toMatchObject({ allowed: false, remaining: 0, delayMs: 0, retryAfterMs: 50, resetAfterMs: 400 });
    time.advance(denied.retryAfterMs - 0.001);
    expect(spend().allowed).toBe(false);
    time.advance(0.001);
    expect(spend()).toMatchObject({ allowed: true, delayMs: 250 });
  });

  test('a share applies to the burst and to the longest delay', () => {
    const { spend } = oneQueue({ burst: 10, count: 10, period: '1s', maxWait: '1s' });
    expect(spend({ share: 0.25, cost: 5 })).toMatchObject({ allowed: true, remaining: 0 });
    expect(spend({ share: 0.25 })).toMatchObject({ allowed: false, retryAfterMs: 100 });
    expect(spend({ share: 0.6, cost: 7 })).toMatchObject({ allowed: true, delayMs: 200 });
    expect(spend({ share: 0.6 })).toMatchObject({ allowed: false, remaining: 0 });
    expect(spend({ share: 1, cost: 8 })).toMatchObject({ allowed: true, delayMs: 1000 });
  });

  test('a cost must fit into the burst, and into the share of burst and maxWait together', () => {
    const { spend } = oneQueue({ burst: 10, count: 10, period: '1s', maxWait: '1s' });
    expect(() => spend({ cost: 11 })).toThrow('at most the burst, 10, but was 11');
    expect(() => spend({ cost: 5, share: 0.2 })).toThrow(
      'at most 4, the whole tokens in a share of 0.2 of the burst, 10, and of maxWait, 1000 ms, but was 5',
    );
    expect(spend({ cost: 10, share: 0.5 }).allowed).toBe(true);
  });

  test('a charge takes at most what the queue has room for, so that no wait is longer than maxWait', async () => {
    const { charge, check, spend } = oneQueue();
    for (const resetAfterMs of [100, 200, 300, 350, 350])
      expect(await charge(1)).toMatchObject([{ remaining: 0, resetAfterMs }]);
    expect(await charge(100)).toMatchObject([{ remaining: 0, resetAfterMs: 350 }]);
    expect(check()).toMatchObject({ allowed: false, retryAfterMs: 100 });
    spend({ mode: 'charge', cost: 1 });
    expect(check({ cost: 0 }).resetAfterMs).toBe(350);
  });

  test('a charge in a batch may cost the burst and what the queue has room for', () => {
    const { spend } = oneQueue();
    expect(() => spend({ mode: 'charge', cost: 4 })).toThrow('at most the burst and maxWait together, 3, but was 4');
    expect(spend({ mode: 'charge', cost: 3 }).results).toMatchObject([{ spent: 3, resetAfterMs: 300 }]);
  });

  test('a maxDebt below maxWait changes nothing, and a higher one allows longer debts, but no longer waits', async () => {
    const short = oneQueue({ ...SPACED, maxDebt: 1 });
    expect(delaysOf([short.spend(), short.spend(), short.spend(), short.spend()])).toEqual([0, 100, 200, 'denied']);
    const long = oneQueue({ ...SPACED, maxDebt: 9 });
    expect(delaysOf([long.spend(), long.spend(), long.spend(), long.spend()])).toEqual([0, 100, 200, 'denied']);
    expect(await long.charge(100)).toMatchObject([{ resetAfterMs: 1000 }]);
  });

  test('a request that may not wait does not shorten the queue of others', async () => {
    const { limiter, spend, charge } = oneQueue();
    spend();
    expect(delaysOf([spend(), spend()])).toEqual([100, 200]);
    await charge(1);
    spend({ mode: 'check-only', share: 0.1, cost: 0 });
    limiter.checkSync([{ limit: 'Queue', id: '7' }]);
    expect(spend().retryAfterMs).toBe(100);
  });
});

describe('the tokens of a request that leaves', () => {
  test('are given back when it is the last in the queue', async () => {
    const { spend, refund } = oneQueue();
    spend();
    await refund(spend());
    expect(spend().delayMs).toBe(100);
  });

  test('are not given back while others wait behind it, because a new request would get a turn before theirs', async () => {
    const { spend, refund } = oneQueue();
    spend();
    const [left, behind] = [spend(), spend()];
    expect(await refund(left)).toMatchObject([{ resetAfterMs: 300 }]);
    expect(spend()).toMatchObject({ allowed: false });
    await refund(behind);
    expect(spend().delayMs).toBe(200);
  });

  test('are given back after its turn, when no request waits', async () => {
    const { spend, check, refund, time } = oneQueue({ ...SPACED, burst: 3 });
    const first = spend({ cost: 3 });
    const waited = spend();
    time.advance(waited.delayMs);
    await refund(first);
    expect(check().remaining).toBe(2);
  });
});

test('an override has the maxWait of its limit unless it has its own', () => {
  const limits = { Queue: SPACED };
  const overrides = {
    Queue: {
      fast: { burst: 1, count: 20, period: '1s' },
      patient: { burst: 1, count: 10, period: '1s', maxWait: '1s' },
    },
  };
  const { limiter } = limiterOnFakeTime(limits, { overrides });
  const last = (id: string, times: number) =>
    Array.from({ length: times }, () => limiter.spendSync([{ limit: 'Queue', id }])).at(-1)!;
  expect(last('fast', 6).delayMs).toBe(250);
  expect(last('fast', 1).allowed).toBe(false);
  expect(last('patient', 11).delayMs).toBe(1000);
  expect(last('patient', 1).allowed).toBe(false);
  expect(last('7', 3).delayMs).toBe(200);
  expect(last('7', 1).allowed).toBe(false);
});

test('an override may have a maxWait although its limit has none', () => {
  const { maxWait: _, ...plain } = SPACED;
  const { limiter } = limiterOnFakeTime({ Queue: plain }, { overrides: { Queue: { patient: SPACED } } });
  const two = (id: string) => [0, 1].map(() => limiter.spendSync([{ limit: 'Queue', id }]));
  expect(delaysOf(two('patient'))).toEqual([0, 100]);
  expect(delaysOf(two('7'))).toEqual([0, 'denied']);
});

test('an overrides function may change the maxWait in the object that it returned', () => {
  const plan: { burst: number; count: number; period: string; maxWait?: string } = {
    burst: 1,
    count: 10,
    period: '1s',
  };
  const { limiter } = limiterOnFakeTime({ Queue: SPACED }, { overrides: () => plan });
  const spend = () => limiter.spendSync([{ limit: 'Queue', id: '7' }]);
  expect(delaysOf([spend(), spend(), spend(), spend()])).toEqual([0, 100, 200, 'denied']);
  plan.maxWait = '300ms';
  expect(spend().delayMs).toBe(300);
});

test('replace may raise and lower maxWait', () => {
  const { limiter, spend } = oneQueue();
  const replace = (numbers: Numbers) => limiter.replace({ limits: limitsOf(numbers) });
  expect(delaysOf([spend(), spend(), spend(), spend()])).toEqual([0, 100, 200, 'denied']);
  replace({ ...SPACED, maxWait: '400ms' });
  expect(delaysOf([spend(), spend(), spend()])).toEqual([300, 400, 'denied']);
  replace({ ...SPACED, maxWait: '100ms' });
  expect(spend()).toMatchObject({ allowed: false, retryAfterMs: 400 });
});

test('a raise cuts an old queue to the longest delay of the new numbers', () => {
  const { limiter, spend } = oneQueue({ burst: 1, count: 1, period: '1h', maxWait: '1h' });
  expect(delaysOf([spend(), spend(), spend()])).toEqual([0, 3_600_000, 'denied']);
  limiter.replace({ limits: limitsOf({ burst: 1, count: 10, period: '1s', maxWait: '200ms' }) });
  expect(spend()).toMatchObject({ allowed: false, retryAfterMs: 100 });
});

test('a raise cuts no debt that the old numbers did not allow', () => {
  const { limiter, store, spend } = oneQueue({ burst: 1, count: 1, period: '1m', maxWait: '1m' });
  const tenMinutes = 600 * 16e6;
  void callsOf(store).charge([{ limit: 'Queue', id: '7', incrementTicks: tenMinutes, capTicks: tenMinutes }]);
  limiter.replace({ limits: limitsOf(SPACED) });
  expect(spend()).toMatchObject({ allowed: false, resetAfterMs: 600_000 });
});

test.each<[maxWait: unknown, code: string, says: string]>([
  [0, 'ERR_DURATION', '`limits.Queue.maxWait` must be a duration of whole microseconds from 1ms to 1 hour, but was 0'],
  ['0s', 'ERR_DURATION', "but was '0s'"],
  ['-1s', 'ERR_DURATION', "but was '-1s'"],
  [-1000, 'ERR_DURATION', 'but was -1000'],
  [2, 'ERR_DURATION', "Write its unit: '2s' for seconds, '2ms' for milliseconds."],
  ['2', 'ERR_DURATION', "Write its unit: '2s' for seconds"],
  ['61m', 'ERR_DURATION', 'to 1 hour'],
  [null, 'ERR_DURATION', 'but was null'],
  [NaN, 'ERR_DURATION', 'but was NaN'],
])('a maxWait of %o is an error', (maxWait, code, says) => {
  expect(() => oneQueue({ ...SPACED, maxWait: maxWait as string })).toThrow(
    expect.objectContaining({ code, message: expect.stringContaining(says) }),
  );
  expect(() =>
    limiterOnFakeTime({ Queue: SPACED }, { overrides: { Queue: { 7: { ...SPACED, maxWait: maxWait as string } } } }),
  ).toThrow(expect.objectContaining({ code, message: expect.stringContaining("overrides.Queue['7'].maxWait") }));
});
