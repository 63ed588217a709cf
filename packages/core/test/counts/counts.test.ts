import { accountId, createLimiter, everyone, memoryStore, type Limiter, type LimiterOptions } from '@sluice/core';
import { borrow as borrowLimit } from '@sluice/core/borrow';
import { concurrency } from '@sluice/core/concurrency';
import { load as loadLimit, loadFrom } from '@sluice/core/load';
import { quota } from '@sluice/core/quota';
import { flowSettings, runFlow } from '@sluice/core/http';
import { counts, gauges, metricsText, readMetrics, top } from '@sluice/core/metrics';
import { storeGuard } from '@sluice/core/store';
import { FakeTime } from '@sluice/core/testing';
import { describe, expect, test } from 'vitest';
import { accountLimits, limiterOnFakeTime } from '../support/limiter-on-fake-time.ts';
import { plainExchange } from '../support/plain-exchange.ts';
import { thrown } from '../support/thrown.ts';

const ORDERS = { Orders: { count: 10, period: '10s' } } as const;
const order = (id = '7', cost = 1) => [{ limit: 'Orders' as const, id, cost }];

/** A limiter that is counted from the beginning. */
function counted(...args: Parameters<typeof limiterOnFakeTime>) {
  const made = limiterOnFakeTime(...args);
  counts(made.limiter);
  return made;
}

function tokensOf(limiter: Limiter, limit = 'Orders') {
  return counts(limiter).limits[limit]?.tokens;
}

describe('the counts of a limiter', () => {
  test('begin with the first call, and say when that was', () => {
    const { limiter, time } = limiterOnFakeTime(ORDERS);
    limiter.spendSync(order());
    time.advance(5000);
    expect(counts(limiter)).toEqual({ since: new Date(time.wallNow()), decisions: [], limits: {} });
    limiter.spendSync(order());
    expect(counts(limiter).decisions).toEqual([
      { limit: 'Orders', outcome: 'allowed', by: 'store', shadow: false, count: 1 },
    ]);
  });

  test('contain each spend by its strictest limit, and no check', () => {
    const { limiter } = counted({ ...ORDERS, Reads: { count: 1, period: '1m' } });
    const both = [...order(), { limit: 'Reads', id: '7' }];
    limiter.spendSync(both);
    limiter.spendSync(both);
    limiter.checkSync(both);
    limiter.spendSync([]);
    expect(counts(limiter).decisions).toEqual([
      { limit: 'Reads', outcome: 'allowed', by: 'store', shadow: false, count: 1 },
      { limit: 'Reads', outcome: 'denied', by: 'store', shadow: false, count: 1 },
      { limit: null, outcome: 'allowed', by: 'store', shadow: false, count: 1 },
    ]);
    expect(counts(limiter).limits).toMatchObject({
      Orders: { kind: 'rate', denials: 0, tokens: { taken: 1 } },
      Reads: { kind: 'rate', denials: 1, tokens: { taken: 1 } },
    });
  });

  test('distinguish decisions whose caller lets the request through in any case', async () => {
    const { limiter } = counted(ORDERS);
    limiter.spendSync(order('7', 10), { shadow: true });
    await limiter.spend(order(), { shadow: true });
    await limiter.spend({ firstOf: [order('7', 2)] }, { shadow: true });
    expect(counts(limiter).decisions.map(({ outcome, shadow, count }) => [outcome, shadow, count])).toEqual([
      ['allowed', true, 1],
      ['denied', true, 2],
    ]);
    expect(counts(limiter).limits['Orders']).toMatchObject({ denials: 0, shadowDenials: 2 });
  });

  test('contain asynchronous decisions, alternatives and blocked ids', async () => {
    const overrides: LimiterOptions['overrides'] = async (_, id) => (id === 'x' ? 'blocked' : undefined);
    const { limiter } = counted(ORDERS, { overrides });
    await limiter.spend({ firstOf: [order('7', 10), order('8')] });
    await limiter.spend({ firstOf: [order('7', 10), order('8')] });
    await limiter.spend(order('x'));
    expect(counts(limiter).decisions.map(({ outcome, count }) => [outcome, count])).toEqual([
      ['allowed', 2],
      ['denied', 1],
    ]);
    expect(counts(limiter).limits['Orders']).toMatchObject({ denials: 1, tokens: { taken: 11 } });
  });

  test('say how near clients are, in parts of a bucket', () => {
    const { limiter } = counted(ORDERS);
    for (const cost of [4, 1, 3, 1, 1, 1]) limiter.spendSync(order('7', cost));
    // Used are 4, 5, 8, 9, 10 of 10 tokens, and again 10 when the last request is denied.
    expect(counts(limiter).limits['Orders']!.near).toEqual({ 0.5: 5, 0.75: 4, 0.9: 3, 0.99: 2 });
  });

  test('say how near a request is to the end of its share', () => {
    const { limiter } = counted(ORDERS);
    limiter.spendSync([{ limit: 'Orders', id: '7', share: 0.5, cost: 5 }]);
    limiter.spendSync([{ limit: 'Orders', id: '8', cost: 5 }]);
    expect(counts(limiter).limits['Orders']!.near).toEqual({ 0.5: 2, 0.75: 1, 0.9: 1, 0.99: 1 });
  });

  test('say how near a request is to the end of its own share, and not of the bucket', () => {
    const { limiter } = counted(ORDERS);
    limiter.spendSync([{ limit: 'Orders', id: '7', share: 0.5, cost: 4 }]);
    // The same among others, where each result is counted by itself.
    limiter.spendSync([{ limit: 'Orders', id: '8', share: 0.5, cost: 4 }, ...order('9', 1)]);
    expect(counts(limiter).limits['Orders']!.near).toEqual({ 0.5: 2, 0.75: 2, 0.9: 0, 0.99: 0 });
  });

  test('say how near clients of a limit with debts or a queue are to an empty bucket', async () => {
    const { limiter } = counted({
      Tokens: { count: 10, period: '10s', maxDebt: 10 },
      Exports: { count: 10, period: '10s', maxWait: '10s' },
    });
    for (const limit of ['Tokens', 'Exports']) {
      await limiter.spend([{ limit, id: '7', cost: 6 }], { wait: true });
      expect(counts(limiter).limits[limit]!.near).toEqual({ 0.5: 1, 0.75: 0, 0.9: 0, 0.99: 0 });
    }
    await limiter.charge([{ limit: 'Tokens', id: '7', cost: 6 }]);
    limiter.spendSync([{ limit: 'Tokens', id: '7' }]);
    expect(counts(limiter).limits['Tokens']!.near).toEqual({ 0.5: 2, 0.75: 1, 0.9: 1, 0.99: 1 });
  });

  test('contain of a charge what the bucket and its debt had, and of a refund what was missing', async () => {
    const { limiter } = counted({ Orders: { count: 10, period: '10s', maxDebt: 5 } });
    await limiter.charge(order('7', 12));
    await limiter.charge(order('7', 12));
    expect(tokensOf(limiter)).toMatchObject({ charged: 15 });
    await limiter.charge(order('7', 12));
    expect(tokensOf(limiter)).toMatchObject({ charged: 15 });
    await limiter.refund(order('7', 12));
    await limiter.refund(order('7', 12));
    await limiter.refund(order('8', 3));
    expect(tokensOf(limiter)).toMatchObject({ refunded: 15, lost: 0 });
  });

  test('contain of a late refund what had not refilled', async () => {
    const { limiter, time } = counted(ORDERS);
    const [early, late, gone] = ['7', '8', '9'].map((id) => limiter.spendSync(order(id, 6)));
    await limiter.refund(early!);
    expect(tokensOf(limiter)).toMatchObject({ refunded: 6 });
    time.advance(4000);
    await limiter.refund(late!);
    expect(tokensOf(limiter)).toMatchObject({ refunded: 8 });
    await limiter.settle(gone!, { Orders: 5 });
    expect(tokensOf(limiter)).toMatchObject({ refunded: 9 });
    time.advance(60_000);
    await limiter.refund(gone!);
    expect(tokensOf(limiter)).toMatchObject({ taken: 18, refunded: 9 });
  });

  test('contain the tokens of a limit that borrows once, also those that its own bucket did not have', async () => {
    const rate = { count: 1, period: '1h' } as const;
    const borrow = { from: 'Pool', ceiling: { ...rate, burst: 5 } };
    const limiter = createLimiter({
      limits: {
        Orders: borrowLimit({ key: accountId(), ...rate, burst: 2, borrow }),
        Pool: { key: everyone(), ...rate, burst: 10 },
      },
      log: false,
    });
    counts(limiter);
    await limiter.charge(order('7', 3));
    await limiter.refund(order('7', 1));
    expect(tokensOf(limiter)).toMatchObject({ charged: 3, refunded: 1 });
    expect(tokensOf(limiter, 'Pool')).toBeUndefined();
    await limiter.close();
  });

  test('contain charges and refunds', async () => {
    const { limiter } = counted(ORDERS);
    await limiter.charge(order('7', 3));
    const decision = limiter.spendSync(order('7', 2));
    await limiter.refund(decision);
    await limiter.refund(decision);
    await limiter.refund(order('7', 1));
    expect(tokensOf(limiter)).toEqual({ taken: 2, charged: 3, restricted: 0, refunded: 3, lost: 0 });
  });

  test('contain settlements as charges and refunds of the difference', async () => {
    const { limiter } = counted(ORDERS);
    const orders = limiter.limit('Orders');
    await orders.run('7', () => 1, { cost: 4, settle: (spent) => spent });
    await orders.run('7', () => 3, { cost: 1, settle: (spent) => spent });
    expect(tokensOf(limiter)).toEqual({ taken: 5, charged: 2, restricted: 0, refunded: 3, lost: 0 });
  });

  test('of a limit go on when it is replaced, and stay when it is removed', () => {
    const { limiter, time } = counted(ORDERS);
    limiter.spendSync(order());
    time.advance(1000);
    limiter.replace({ limits: accountLimits({ Orders: { count: 5, period: '1s' } }) });
    limiter.spendSync(order());
    expect(tokensOf(limiter)?.taken).toBe(2);
    limiter.replace({ limits: accountLimits({ Reads: { count: 5, period: '1s' } }) });
    expect(counts(limiter).limits['Orders']).toMatchObject({ kind: undefined, tokens: { taken: 2 } });
  });

  test('do not grow with the number of ids', () => {
    const { limiter } = counted({ Orders: { count: 1, period: '1h' } });
    for (let id = 0; id < 20_000; id++) limiter.spendSync(order(`${id}`));
    expect(counts(limiter).decisions).toHaveLength(1);
    expect(metricsText(limiter).split('\n').length).toBeLessThan(60);
  });

  test('are the same for all who ask', () => {
    const { limiter } = counted(ORDERS);
    counts(limiter);
    metricsText(limiter);
    limiter.spendSync(order());
    expect(counts(limiter).decisions).toMatchObject([{ count: 1 }]);
  });

  test("can't be read of a value that is not a limiter", () => {
    for (const call of [counts, gauges, metricsText] as const)
      expect(thrown(() => call({} as never)).code).toBe('ERR_OPTION');
  });
});

describe('without an answer of the store', () => {
  const down = { guard: storeGuard, run: () => Promise.reject(new Error('down')), close: () => undefined };
  const limited = (onFailure: 'open' | 'local' | 'closed') => {
    const limiter = createLimiter({
      limits: { Orders: { key: accountId(() => '7'), count: 10, period: '10s', onFailure } },
      store: down,
      log: false,
    });
    counts(limiter);
    return limiter;
  };

  test.each([
    ['open', 'allowed'],
    ['local', 'allowed'],
    ['closed', 'unavailable'],
  ] as const)('decisions are counted by the policy %s and their limit', async (policy, outcome) => {
    const limiter = limited(policy);
    await limiter.spend(order());
    expect(counts(limiter).decisions).toEqual([{ limit: 'Orders', outcome, by: policy, shadow: false, count: 1 }]);
    await limiter.close();
  });

  test('charges and refunds that are lost are counted', async () => {
    const limiter = limited('closed');
    await limiter.charge(order('7', 3));
    await limiter.refund(order('7', 2));
    expect(tokensOf(limiter)).toEqual({ taken: 0, charged: 0, restricted: 0, refunded: 0, lost: 5 });
    await limiter.close();
  });

  test('of a charge of several limits, those of local ones are counted as charged, and the others as lost', async () => {
    const key = accountId(() => '7');
    const limits = {
      Orders: { key, count: 10, period: '10s', onFailure: 'local' },
      Pages: { key, count: 10, period: '10s', onFailure: 'closed' },
      Reads: { key, count: 10, period: '10s', onFailure: 'open' },
    } as const;
    const limiter = createLimiter({ limits, store: { ...down }, log: false });
    counts(limiter);
    await limiter.charge([
      ...order('7', 12),
      { limit: 'Pages', id: '7', cost: 2 },
      { limit: 'Reads', id: '7', cost: 4 },
    ]);
    expect(tokensOf(limiter)).toMatchObject({ charged: 10, lost: 0 });
    expect(tokensOf(limiter, 'Pages')).toMatchObject({ charged: 0, lost: 2 });
    expect(tokensOf(limiter, 'Reads')).toMatchObject({ charged: 0, lost: 4 });
    await limiter.close();
  });

  test('charges of local limits are counted as charged', async () => {
    const limiter = limited('local');
    await limiter.charge(order('7', 3));
    expect(tokensOf(limiter)).toMatchObject({ charged: 3, lost: 0 });
    await limiter.close();
  });

  test('how long decisions took is in the metrics', async () => {
    const limiter = limited('open');
    for (let call = 0; call < 3; call++) await limiter.spend(order());
    const text = metricsText(limiter);
    expect(text).toContain('sluice_decision_duration_seconds_count{outcome="allowed"} 3');
    expect(text).toContain('sluice_store_failing{store=""} 1');
    expect(text).toContain('sluice_store_outages_total{store=""} 1');
    await limiter.close();
  });
});

describe('the gauges of a limiter', () => {
  test('show its queues, slots and loads', async () => {
    const time = new FakeTime();
    const limiter = createLimiter({
      limits: {
        Exports: { key: everyone(), count: 1, period: '1s', burst: 1, maxWait: '10s' },
        InFlight: concurrency({ key: everyone(), concurrency: 5 }),
        Orders: { key: everyone(), count: 1, period: '1s' },
      },
      store: memoryStore({ time }),
      time,
    });
    let end = (): void => undefined;
    const work = new Promise<void>((resolve) => (end = resolve));
    void limiter.limit('InFlight').run(() => work);
    const waits = [1, 2, 3].map(() => limiter.limit('Exports').run(() => undefined));
    await Promise.resolve();
    expect(gauges(limiter)).toEqual({
      isStoreFailing: false,
      limits: {
        Exports: { kind: 'rate', queued: 2, longestWaitMs: 2000, slotsHeld: undefined, loadLevel: undefined },
        InFlight: {
          kind: 'concurrency',
          queued: undefined,
          longestWaitMs: undefined,
          slotsHeld: 1,
          loadLevel: undefined,
        },
        Orders: {
          kind: 'rate',
          queued: undefined,
          longestWaitMs: undefined,
          slotsHeld: undefined,
          loadLevel: undefined,
        },
      },
    });
    end();
    time.advance(2000);
    await Promise.all(waits);
    expect(gauges(limiter).limits).toMatchObject({
      Exports: { queued: 0, longestWaitMs: 0 },
      InFlight: { slotsHeld: 0 },
    });
  });
});

test('a request that waits is counted for the limit that delays it, even if another one is stricter', async () => {
  const { limiter, time } = counted({
    Orders: { count: 2, period: '1h' },
    Exports: { count: 10, period: '10s', burst: 1, maxWait: '10s' },
  });
  const both = [...order(), { limit: 'Exports', id: '7' }];
  const decisions = [1, 2].map(() => limiter.spend(both, { wait: true }));
  await Promise.resolve();
  expect(gauges(limiter).limits['Exports']).toMatchObject({ queued: 1, longestWaitMs: 1000 });
  time.advance(1000);
  expect((await Promise.all(decisions)).at(-1)).toMatchObject({ limit: 'Orders', delayMs: 1000 });
  expect(metricsText(limiter)).toContain('sluice_queue_wait_seconds_count{limit="Exports"} 1');
});

describe('the ids that are denied most', () => {
  test('are counted from the first question on, exactly up to 1,000 ids', () => {
    const { limiter } = limiterOnFakeTime({ Orders: { count: 1, period: '1h' } });
    const spend = (id: string, times: number): void => {
      for (let i = 0; i < times; i++) limiter.spendSync(order(id));
    };
    spend('before', 5);
    expect(top(limiter, 'Orders')).toEqual([]);
    spend('a', 4);
    spend('b', 8);
    spend('c', 1);
    expect(top(limiter, 'Orders', { n: 1 })).toEqual([{ id: 'b', denials: 7, error: 0 }]);
    expect(top(limiter, 'Orders').map(({ id }) => id)).toEqual(['b', 'a']);
  });

  test('are found in a flood of other ids, with an error of a thousandth of the denials at most', () => {
    const { limiter } = limiterOnFakeTime({ Orders: { count: 1, period: '1h' } });
    top(limiter, 'Orders');
    const ids = Array.from({ length: 30_000 }, (_, i) =>
      i % 50 === 0 ? 'loud' : i % 75 === 0 ? 'less' : `${i % 9000}`,
    );
    const seen = new Set<string>();
    const exact = new Map<string, number>();
    for (const id of ids) {
      if (seen.has(id)) exact.set(id, (exact.get(id) ?? 0) + 1);
      seen.add(id);
      limiter.spendSync(order(id));
    }
    const denials = counts(limiter).limits['Orders']!.denials;
    expect(denials).toBe([...exact.values()].reduce((sum, count) => sum + count, 0));
    const all = top(limiter, 'Orders', { n: 1000 });
    expect(all.slice(0, 2).map(({ id }) => id)).toEqual(['loud', 'less']);
    for (const { id, denials: most, error } of all) {
      expect(error).toBeLessThanOrEqual(denials / 1000);
      expect(most - error).toBeLessThanOrEqual(exact.get(id) ?? 0);
      expect(most).toBeGreaterThanOrEqual(exact.get(id) ?? 0);
    }
  });

  test('have the error of a thousandth of all denials also where requests are let through in shadow', () => {
    const { limiter } = limiterOnFakeTime({ Orders: { count: 1, period: '1h' } });
    top(limiter, 'Orders');
    for (let i = 0; i < 20_000; i++) limiter.spendSync(order(`${i % 4000}`), { shadow: i % 10 !== 0 });
    const { denials, shadowDenials } = counts(limiter).limits['Orders']!;
    const all = top(limiter, 'Orders', { n: 1000 });
    expect(all).toHaveLength(1000);
    for (const { denials: most, error } of all) {
      expect(error).toBeLessThanOrEqual((denials + shadowDenials) / 1000);
      expect(most - error).toBeLessThanOrEqual(4);
    }
    expect(all.reduce((sum, each) => sum + each.denials, 0)).toBe(denials + shadowDenials);
  });

  test('are not those of an unknown limit, and not more than are remembered', () => {
    const { limiter } = limiterOnFakeTime(ORDERS);
    expect(thrown(() => top(limiter, 'Typo')).code).toBe('ERR_UNKNOWN_LIMIT');
    expect(thrown(() => top(limiter, 'Orders', { n: 1001 })).message).toContain('`top.n` must be');
  });
});

test('the text for Prometheus has the numbers of all limiters that it is given', () => {
  const [one, other] = [counted(ORDERS), counted(ORDERS)];
  one.limiter.spendSync(order('7', 10));
  one.limiter.spendSync(order('7', 10));
  other.limiter.spendSync(order('7', 10));
  expect(metricsText(one.limiter, other.limiter).split('\n')).toEqual(
    expect.arrayContaining([
      '# TYPE sluice_decisions_total counter',
      'sluice_decisions_total{limit="Orders",outcome="allowed",policy="",shadow="false"} 2',
      'sluice_decisions_total{limit="Orders",outcome="denied",policy="",shadow="false"} 1',
      'sluice_limit_denials_total{limit="Orders",kind="rate",shadow="false"} 1',
      'sluice_limit_near_total{limit="Orders",above="0.99"} 3',
      'sluice_tokens_total{limit="Orders",direction="taken"} 20',
      'sluice_store_failing{store="memory"} 0',
      'sluice_memory_buckets{limit="Orders"} 2',
      'sluice_limit_tokens{limit="Orders",kind="rate"} 10',
      'sluice_limit_burst{limit="Orders",kind="rate"} 10',
    ]),
  );
});

test('the text for Prometheus has queues, slots, loads, and requests in shadow mode', async () => {
  const time = new FakeTime();
  const load = loadFrom(() => 1);
  const limiter = createLimiter({
    limits: {
      Exports: { key: everyone(), count: 1, period: '1s', burst: 1, maxWait: '10s' },
      InFlight: concurrency({ key: everyone(), concurrency: 5 }),
      Monthly: quota({ key: everyone(), count: 5, per: 'month' }),
      Worker: loadLimit({ key: everyone(), load }),
    },
    store: memoryStore({ time }),
    time,
    log: false,
  });
  counts(limiter);
  const mode = 'spend-only';
  await limiter.spend([
    { limit: 'Monthly', id: 'everyone', mode },
    { limit: 'Exports', id: 'everyone', mode },
  ]);
  const waits = [limiter.limit('Exports').run(() => undefined), limiter.limit('Exports').run(() => undefined)];
  const held = limiter.limit('InFlight').run(() => new Promise<void>((resolve) => void time.alarm(3000, resolve)));
  await Promise.resolve();
  const shadow = flowSettings({ limiter, limits: ['Monthly'], shadow: true }, []);
  for (let i = 0; i < 5; i++) await runFlow(shadow, plainExchange(), []);
  const text = metricsText(limiter).split('\n');
  expect(text).toEqual(
    expect.arrayContaining([
      'sluice_queue_length{limit="Exports"} 2',
      'sluice_queue_longest_seconds{limit="Exports"} 2',
      'sluice_queue_wait_seconds_bucket{limit="Exports",le="1"} 1',
      'sluice_queue_wait_seconds_bucket{limit="Exports",le="5"} 2',
      'sluice_queue_wait_seconds_bucket{limit="Exports",le="+Inf"} 2',
      'sluice_queue_wait_seconds_sum{limit="Exports"} 3',
      'sluice_queue_wait_seconds_count{limit="Exports"} 2',
      'sluice_slots_held{limit="InFlight"} 1',
      'sluice_load_level{limit="Worker"} 0',
      'sluice_decisions_total{limit="Monthly",outcome="denied",policy="",shadow="true"} 1',
      'sluice_limit_denials_total{limit="Monthly",kind="quota",shadow="true"} 1',
      'sluice_limit_burst{limit="InFlight",kind="concurrency"} 5',
    ]),
  );
  expect(text.filter((line) => line.startsWith('sluice_limit_burst{limit="Worker"'))).toEqual([]);
  time.advance(20_000);
  await Promise.all([...waits, held]);
  expect(await limiter.spend([{ limit: 'Worker', id: 'everyone' }])).toMatchObject({ outcome: 'denied' });
  expect(counts(limiter).limits['Worker']).toMatchObject({ kind: 'load', denials: 1, near: { 0.5: 0 } });
  expect(gauges(limiter).limits['Worker']?.loadLevel).toBe(load.level);
});

test('the text for Prometheus adds the waits of several limiters', async () => {
  const texts = [1, 2].map(() => counted({ Exports: { count: 1, period: '1s', burst: 1, maxWait: '10s' } }));
  for (const { limiter } of texts) for (let i = 0; i < 2; i++) limiter.spendSync([{ limit: 'Exports', id: '7' }]);
  expect(metricsText(...texts.map(({ limiter }) => limiter))).toContain(
    'sluice_queue_wait_seconds_count{limit="Exports"} 2',
  );
});

test('the text for Prometheus has decisions without limits, and those of a limit that was removed', () => {
  const { limiter } = counted(ORDERS);
  limiter.spendSync([]);
  limiter.spendSync(order('7', 10));
  limiter.spendSync(order('7', 10));
  limiter.replace({ limits: { InFlight: concurrency({ key: everyone(), concurrency: 5 }) } });
  const lines = metricsText(limiter).split('\n');
  expect(lines).toEqual(
    expect.arrayContaining([
      'sluice_decisions_total{limit="",outcome="allowed",policy="",shadow="false"} 1',
      'sluice_limit_denials_total{limit="Orders",kind="",shadow="false"} 1',
      'sluice_slots_held{limit="InFlight"} 0',
    ]),
  );
  expect(lines.filter((line) => line.startsWith('sluice_limit_near_total{limit=""'))).toEqual([]);
});

test('a limit that has not denied yet has 0 denials, with which an alert compares the first ones', () => {
  const { limiter } = counted(ORDERS);
  expect(metricsText(limiter)).toContain('sluice_limit_denials_total{limit="Orders",kind="rate",shadow="false"} 0\n');
});

test('no counter of the text for Prometheus falls when limiters and their store are closed', async () => {
  const store = memoryStore({ maxKeys: 1000 });
  const both = [1, 2].map(() => createLimiter({ limits: accountLimits(ORDERS), store, log: false }));
  const read = () =>
    readMetrics(...both)
      .filter(({ type }) => type !== 'gauge')
      .map(({ name, samples }) => [name, samples]);
  read();
  for (let id = 0; id < 2000; id++) both[0]!.spendSync(order(`${id}`, 10));
  const { evicted } = store.stats();
  const before = read();
  await both[0]!.close();
  await both[1]!.close({ store: true });
  expect(read()).toEqual(before);
  expect(before).toContainEqual(['sluice.memory.evicted', [{ attributes: {}, value: evicted }]]);
});

test('labels of the text for Prometheus are escaped, and a limit cannot have a name that would need it', () => {
  const name = 'my "own" \\ store\n🙂';
  const store = Object.assign(memoryStore(), { name });
  const limiter = createLimiter({ limits: accountLimits(ORDERS), store, log: false });
  expect(metricsText(limiter)).toContain('\nsluice_store_failing{store="my \\"own\\" \\\\ store\\n🙂"} 0\n');
  for (const limit of ['a"b', 'a\\b', 'a\nb', '🙂', 'a🙂']) {
    const refused = thrown(() => createLimiter({ limits: accountLimits({ [limit]: ORDERS.Orders }), log: false }));
    expect(refused).toMatchObject({ code: 'ERR_LIMIT' });
    expect(refused.message).toContain('a letter followed by letters, digits');
  }
});
