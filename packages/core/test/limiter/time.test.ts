import { createLimiter, memoryStore, type Decision, type LimiterOptions, type Store } from '@sluice/core';
import { storeGuard } from '@sluice/core/store';
import { FakeTime } from '@sluice/core/testing';
import { describe, expect, test } from 'vitest';
import { CountedTime } from '../support/counted-time.ts';
import { deferred } from '../support/promises.ts';
import { accountLimits } from '../support/limiter-on-fake-time.ts';

const hanging = <T>(): Promise<T> => new Promise(() => {});

/** A store that never answers. */
function hangingStore(): Store {
  return { guard: storeGuard, run: hanging, close: () => {} };
}

function limiterWith(options: Partial<LimiterOptions>) {
  const time = new FakeTime();
  const limits = accountLimits({ Orders: { burst: 1, count: 1, period: '10s' } });
  const limiter = createLimiter({ limits, log: false, time, ...options });
  const spend = () => limiter.spend([{ limit: 'Orders', id: '7' }]);
  const decide = () => limiter.spendSync([{ limit: 'Orders', id: '7' }]);
  return { time, limiter, spend, decide };
}

describe('the time of a limiter is that of', () => {
  test('its own memory store', () => {
    const { time, decide } = limiterWith({});
    expect([decide().allowed, decide().retryAfterMs]).toEqual([true, 10_000]);
    time.advance(9999.999);
    expect(decide().allowed).toBe(false);
    time.advance(0.001);
    expect(decide().allowed).toBe(true);
  });

  test('deadlines, and of the buckets that decide while the store can’t', async () => {
    const { time, spend } = limiterWith({ store: hangingStore(), failure: { deadlineMs: 50 } });
    const decide = async (): Promise<Decision> => {
      const decision = spend();
      await time.pass(50);
      return decision;
    };
    expect(await decide()).toMatchObject({ allowed: true, failure: { policy: 'local' } });
    expect(await decide()).toMatchObject({ allowed: false, retryAfterMs: 9950 });
    time.advance(9950);
    expect(await decide()).toMatchObject({ allowed: true });
  });

  test('the deadline of `overrides`', async () => {
    const { time, spend } = limiterWith({ overrides: () => hanging(), overridesDeadlineMs: 200 });
    const decision = spend();
    time.advance(200);
    expect(await decision).toMatchObject({ allowed: true, results: [{ overridden: false }] });
  });

  test('log lines and outages', async () => {
    const lines: string[] = [];
    const onDecision = (): never => {
      throw new Error('from outside');
    };
    const { time, decide } = limiterWith({ onDecision, log: (line) => lines.push(line) });
    for (const ms of [0, 9999, 1]) {
      time.advance(ms);
      decide();
    }
    expect(lines).toHaveLength(2);
    expect(lines[1]).toContain('(and 1 more like it since the last line)');
  });

  test('dates', () => {
    const time = new FakeTime();
    time.setWall(Date.parse('2026-07-01T12:00:00Z'));
    expect(limiterWith({ time }).limiter.status().since).toEqual(new Date('2026-07-01T12:00:00Z'));
  });

  test('the wait of `close` for work in progress', async () => {
    const given = deferred<never>();
    const store = Object.assign(hangingStore(), { refund: () => given.promise });
    const { time, limiter } = limiterWith({ store, failure: { deadlineMs: 60_000 } });
    void limiter.refund([{ limit: 'Orders', id: '7' }]);
    let closed = false;
    const closing = Promise.resolve(limiter.close()).then(() => (closed = true));
    await time.pass(999);
    expect(closed).toBe(false);
    await time.pass(1);
    await closing;
    expect(time.pending).toBe(0);
  });

  test.each([
    [59_999, 1000],
    [60_000, 10_000],
  ])('a raised limit, which cuts debts for a minute: %i ms after the raise the wait is %i ms', (ms, retryAfterMs) => {
    const { time, limiter, decide } = limiterWith({ store: memoryStore({ time: new FakeTime() }) });
    decide();
    limiter.replace({ limits: accountLimits({ Orders: { burst: 1, count: 1, period: '1s' } }) });
    time.advance(ms);
    expect(decide()).toMatchObject({ allowed: false, retryAfterMs });
  });

  test('nothing else: a store that is passed has its own', () => {
    const { time, decide } = limiterWith({ store: memoryStore({ time: new FakeTime() }) });
    decide();
    time.advance(60_000);
    expect(decide().allowed).toBe(false);
  });
});

test('a decision in memory reads the clock once, however many limits it has', () => {
  const time = new CountedTime();
  const names = ['One', 'Two', 'Three'];
  const limits = accountLimits(Object.fromEntries(names.map((name) => [name, { count: 1, period: '1s' }])));
  const limiter = createLimiter({ limits, time });
  time.reads = 0;
  for (let i = 0; i < 10; i++) limiter.spendSync(names.map((limit) => ({ limit, id: '7' })));
  expect([time.reads, time.alarms]).toEqual([10, 0]);
});

test('a decision in memory reads the wall clock once for all its quotas, and once more when it sweeps', () => {
  const time = new CountedTime();
  const limits = accountLimits({ Daily: { count: 999, per: 'day' }, Monthly: { count: 999, per: 'month' } });
  const limiter = createLimiter({ limits, time });
  const spend = () => limiter.spendSync(['Daily', 'Monthly'].map((limit) => ({ limit, id: '7' })));
  spend();
  time.advance(40_000_000_000);
  // The first decisions also find the running periods, and sweep for their new tables.
  for (let i = 0; i < 16; i++) spend();
  time.wallReads = 0;
  // Every sixteenth call sweeps.
  for (let i = 0; i < 160; i++) spend();
  expect(time.wallReads).toBe(160 + 10);
});
