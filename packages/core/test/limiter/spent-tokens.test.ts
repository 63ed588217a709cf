import {
  createLimiter,
  memoryStore,
  SluiceError,
  type Awaitable,
  type Decision,
  type Limiter,
  type LimiterEvent,
  type SpendEntry,
  type Store,
  type StoreRefund,
} from '@sluice/core';
import { FakeTime } from '@sluice/core/testing';
import { describe, expect, test } from 'vitest';
import { RequestDecision } from '../../src/http/request-decision.ts';
import { coreOf } from '../../src/limiter/create-limiter.ts';
import { accountLimits, atOnce, limiterOnFakeTime } from '../support/limiter-on-fake-time.ts';
import { thrown } from '../support/thrown.ts';
import { MapStore } from '../testing/map-store.ts';

const numbers = { Orders: { burst: 10, count: 1, period: '1s' }, Reads: { burst: 10, count: 1, period: '1s' } };
const order = (cost: number, more: Partial<SpendEntry> = {}): SpendEntry => ({
  limit: 'Orders',
  id: '7',
  cost,
  ...more,
});

function started() {
  const made = limiterOnFakeTime(numbers);
  const spend = (...entries: SpendEntry[]): Decision => atOnce(made.limiter.spend(entries));
  const remaining = (limit = 'Orders'): number => atOnce(made.limiter.check([{ limit, id: '7', cost: 0 }])).remaining;
  const refund = (decision: Decision) => atOnce(made.limiter.refund(decision));
  return { ...made, spend, refund, remaining };
}

describe('the refund of a decision', () => {
  test('gives back what it took, from all its buckets, and tells how they are then', () => {
    const { spend, remaining, refund } = started();
    const decision = spend(order(3), { limit: 'Reads', id: '7', cost: 2 });
    spend(order(1));
    expect(refund(decision)).toEqual([
      {
        limit: 'Orders',
        id: '7',
        remaining: 9,
        resetAfterMs: 1000,
        burst: 10,
        count: 1,
        periodMs: 1000,
        overridden: false,
      },
      {
        limit: 'Reads',
        id: '7',
        remaining: 10,
        resetAfterMs: 0,
        burst: 10,
        count: 1,
        periodMs: 1000,
        overridden: false,
      },
    ]);
    expect([remaining(), remaining('Reads')]).toEqual([9, 10]);
  });

  test('gives it back once', () => {
    const { spend, remaining, refund } = started();
    const decision = spend(order(3));
    spend(order(5));
    refund(decision);
    expect(refund(decision)).toEqual([]);
    expect(remaining()).toBe(5);
  });

  test('that comes late gives back what has not come back by itself', () => {
    const { time, spend, remaining, refund } = started();
    const decision = spend(order(3));
    spend(order(6));
    time.advance(2000);
    expect(remaining()).toBe(3);
    refund(decision);
    expect(remaining()).toBe(4);
  });

  test('that comes too late gives nothing', () => {
    const { time, spend, remaining, refund } = started();
    const decision = spend(order(3));
    spend(order(6));
    time.advance(3000);
    refund(decision);
    expect(remaining()).toBe(4);
  });

  test('gives nothing for what was denied', () => {
    const { spend, remaining, refund } = started();
    spend(order(10));
    expect(refund(spend(order(1)))).toEqual([]);
    expect(remaining()).toBe(0);
  });

  test('gives nothing for what was only checked, nor for what spend-only could not take', () => {
    const { limiter, spend, remaining, refund } = started();
    spend(order(8));
    const decisions = [
      spend(order(2, { mode: 'check-only' })),
      spend(order(3, { mode: 'spend-only' })),
      spend(order(0)),
      atOnce(limiter.check([order(1)])),
    ];
    expect(decisions.map(refund)).toEqual([[], [], [], []]);
    expect(remaining()).toBe(2);
  });

  test('gives back what spend-only took', () => {
    const { spend, remaining, refund } = started();
    refund(spend(order(3, { mode: 'spend-only' })));
    expect(remaining()).toBe(10);
  });

  test('never takes a bucket past full', () => {
    const { limiter, spend, remaining, refund } = started();
    const decision = spend(order(3));
    atOnce(limiter.reset([{ limit: 'Orders', id: '7' }]));
    refund(decision);
    expect(remaining()).toBe(10);
    expect(atOnce(limiter.check([order(10)]))).toMatchObject({ allowed: true, resetAfterMs: 0 });
  });

  test('after the limit was raised leaves what the new numbers are owed', () => {
    const { limiter, spend, remaining, refund } = started();
    const decision = spend(order(10));
    limiter.replace({ limits: accountLimits({ Orders: { burst: 100, count: 1, period: '1s' } }) });
    spend(order(90));
    expect(remaining()).toBe(0);
    expect(refund(decision)).toMatchObject([{ remaining: 0, resetAfterMs: 90_000 }]);
    expect(remaining()).toBe(10);
  });

  test('after the limit was lowered gives back no more than it took', () => {
    const { limiter, time, spend, remaining, refund } = started();
    const decision = spend(order(4));
    limiter.replace({ limits: accountLimits({ Orders: { burst: 5, count: 2, period: '1s' } }) });
    time.advance(2000);
    expect(remaining()).toBe(1);
    refund(decision);
    expect(remaining()).toBe(5);
  });

  test('after its limit is gone does no harm', () => {
    const { limiter, spend, refund } = started();
    const decision = spend(order(4));
    limiter.replace({ limits: {} });
    expect(refund(decision)).toMatchObject([{ limit: 'Orders', remaining: 10 }]);
  });

  test('of another limiter’s decision is an error that names the remedy, and the tokens can still be given back', () => {
    const [one, other] = [started(), started()];
    const decision = one.spend(order(4));
    const error = thrown(() => other.refund(decision));
    expect(error.code).toBe('ERR_FOREIGN_DECISION');
    expect(error.message).toBe(
      'This decision was made by another limiter. Only that limiter can give its tokens back: call refund(decision) on it. ' +
        'To give tokens of this limiter to an id, name its bucket: refund([{ limit, id, cost }]).',
    );
    expect(one.refund(decision)).toMatchObject([{ remaining: 10 }]);
  });

  test.each(['the same store', 'another store'])(
    'stays possible after a closed limiter on %s was asked for it in error',
    (which) => {
      const one = started();
      const store = which === 'the same store' ? one.store : memoryStore();
      const other = createLimiter({ limits: accountLimits({ Others: numbers.Orders }), store });
      const decision = one.spend(order(4));
      atOnce(other.close());
      expect(thrown(() => other.refund(decision)).code).toBe('ERR_FOREIGN_DECISION');
      one.refund(decision);
      expect(one.remaining()).toBe(10);
    },
  );

  test.each<[what: string, decide: (limiter: Limiter) => Awaitable<Decision>]>([
    ['denied', (limiter) => limiter.spend([order(0), { limit: 'Reads', id: '7', cost: 10 }])],
    ['only checked', (limiter) => limiter.check([order(1)])],
    ['about no limit', (limiter) => limiter.spend([])],
  ])('of another limiter’s decision that was %s is the same error', (_, decide) => {
    const [one, other] = [started(), started()];
    one.spend({ limit: 'Reads', id: '7', cost: 1 });
    const decision = atOnce(decide(one.limiter));
    expect(thrown(() => other.refund(decision)).code).toBe('ERR_FOREIGN_DECISION');
    expect(one.refund(decision)).toEqual([]);
  });

  test('of a closed limiter is an error', () => {
    const { limiter, spend, refund } = started();
    const decision = spend(order(4));
    atOnce(limiter.close());
    expect(thrown(() => refund(decision)).code).toBe('ERR_CLOSED');
  });
});

test.each([
  ['the decision on a request', new RequestDecision(), 'RequestDecision'],
  ['a copy of a decision', { outcome: 'allowed', results: [] }, "outcome: 'allowed'"],
  ['nothing', undefined, 'undefined'],
])('refund refuses %s, and says what to write', (_, what, shown) => {
  const error = thrown(() => started().limiter.refund(what as never));
  expect(error.code).toBe('ERR_OPTION');
  expect(error.message).toContain(`must be given a decision of spend(), or an array of entries, but was `);
  expect(error.message).toContain(shown);
  expect(error.message).toContain('await req.rateLimit?.refund()');
});

describe('on a store that fails now and then, the refund of a decision', () => {
  const down = new Error('connection lost');

  /** A limiter on a store whose refunds do what the test says, and the buckets behind it. */
  function onUnsteadyStore() {
    const inner = memoryStore({ time: new FakeTime() });
    const later = async <T>(answer: () => Awaitable<T>): Promise<T> => answer();
    const given: number[] = [];
    const state = { refund: later };
    const store: Store = {
      spend: (batch) => later(() => inner.spend(batch)),
      check: (batch) => later(() => inner.check(batch)),
      charge: (batch) => later(() => inner.charge(batch)),
      refund: (batch) => {
        given.push(batch.length);
        return state.refund(() => inner.refund(batch));
      },
      reset: (batch) => inner.reset(batch),
      close: () => inner.close(),
    };
    const events: LimiterEvent[] = [];
    const onEvent = (event: LimiterEvent): void => void events.push(event);
    const limiter = createLimiter({ limits: accountLimits(numbers), store, log: false, onEvent });
    const remaining = async () => (await limiter.check([order(0)])).remaining;
    return { limiter, state, later, given, events, remaining };
  }

  test('that the store did not accept gives nothing back, is an event, and can be tried again', async () => {
    const { limiter, state, later, events, remaining } = onUnsteadyStore();
    const decision = await limiter.spend([order(4)]);
    state.refund = () => Promise.reject(down);
    expect(await limiter.refund(decision)).toEqual([]);
    expect(events).toMatchObject([{ type: 'refund-lost', count: 1, cause: down }]);
    state.refund = later;
    expect(await limiter.refund(decision)).toMatchObject([{ remaining: 10 }]);
    expect(await limiter.refund(decision)).toEqual([]);
    expect(await remaining()).toBe(10);
  });

  test('that is wrong use by the store’s own word rejects, and can be tried again', async () => {
    const { limiter, state, later } = onUnsteadyStore();
    const decision = await limiter.spend([order(4)]);
    state.refund = () => Promise.reject(new SluiceError('ERR_CLOSED', 'The store is closed.'));
    await expect(limiter.refund(decision)).rejects.toMatchObject({ code: 'ERR_CLOSED' });
    state.refund = later;
    expect(await limiter.refund(decision)).toMatchObject([{ remaining: 10 }]);
  });

  test('twice at the same time gives back once', async () => {
    const { limiter, given, remaining } = onUnsteadyStore();
    await limiter.spend([order(5)]);
    const decision = await limiter.spend([order(4)]);
    const refunds = await Promise.all([limiter.refund(decision), limiter.refund(decision)]);
    expect(refunds).toMatchObject([[{ remaining: 5 }], []]);
    expect(given).toEqual([1]);
    expect(await remaining()).toBe(5);
  });

  test('beside a settlement that the store did not accept gives all back when it is tried again', async () => {
    const { limiter, state, later, remaining } = onUnsteadyStore();
    const decision = await limiter.spend([order(9)]);
    state.refund = () => Promise.reject(down);
    await Promise.all([
      coreOf(limiter).settle(decision, decision.results.at(0)!, { cost: 4 }),
      limiter.refund(decision),
    ]);
    state.refund = later;
    await limiter.refund(decision);
    expect(await remaining()).toBe(10);
  });
});

describe('a settlement waits for a refund of the decision that is in progress', () => {
  /** Spends 4 and settles 4 while a refund of the decision is on its way to a store that will answer it so. */
  async function settledBeside(answer: 'lost' | 'given'): Promise<number> {
    const time = new FakeTime();
    const inner = new MapStore(time);
    const rightRefund = inner.refund.bind(inner);
    let arrive = (): void => undefined;
    const arrived = new Promise<void>((resolve) => (arrive = resolve));
    Object.assign(inner, {
      refund: async (batch: readonly StoreRefund[]) => {
        await arrived;
        if (answer === 'lost') throw new Error('connection lost');
        return rightRefund(batch);
      },
    });
    const limiter = createLimiter({ limits: accountLimits(numbers), store: inner, log: false });
    const decision = await limiter.spend([order(4)]);
    const refund = limiter.refund(decision);
    const settled = coreOf(limiter).settle(decision, decision.results.at(0)!, { cost: 4 });
    arrive();
    await Promise.all([refund, settled]);
    return (await limiter.check([order(0)])).remaining;
  }

  test('and takes nothing more when the refund is lost', async () => expect(await settledBeside('lost')).toBe(6));

  test('and charges the cost again when the tokens were given back', async () =>
    expect(await settledBeside('given')).toBe(6));
});

describe('the operator’s refund', () => {
  test('gives back the whole cost, whoever took it and whenever, at most to a full bucket', () => {
    const { limiter, time, spend } = started();
    spend(order(9));
    time.advance(500);
    expect(limiter.refund([{ limit: 'Orders', id: '7', cost: 3 }])).toMatchObject([
      { limit: 'Orders', id: '7', remaining: 4, resetAfterMs: 5500 },
    ]);
    expect(limiter.refund([{ limit: 'Orders', id: '7' }])).toMatchObject([{ remaining: 5 }]);
    expect(limiter.refund([{ limit: 'Orders', id: '7', cost: 1_000_000 }])).toMatchObject([
      { remaining: 10, resetAfterMs: 0 },
    ]);
  });
});

describe('a settled cost', () => {
  const settled = async (trueCost: number, before = 4): Promise<number> => {
    const { limiter, spend, remaining } = started();
    const decision = spend(order(before));
    await coreOf(limiter).settle(decision, decision.results.at(0)!, { cost: trueCost });
    return remaining();
  };

  test.each([
    { trueCost: 0, left: 10, what: 'gives everything back' },
    { trueCost: 1, left: 9, what: 'gives back the difference' },
    { trueCost: 4, left: 6, what: 'changes nothing when it was right' },
    { trueCost: 6, left: 4, what: 'charges the difference' },
    { trueCost: 100, left: 0, what: 'charges at most to an empty bucket' },
  ])('$trueCost of 4 $what', async ({ trueCost, left }) => expect(await settled(trueCost)).toBe(left));

  test('is charged whole after a check-only', async () => {
    const { limiter, spend, remaining } = started();
    const decision = spend(order(4, { mode: 'check-only' }));
    await coreOf(limiter).settle(decision, decision.results.at(0)!, { cost: 3 });
    expect(remaining()).toBe(7);
  });

  test('leaves only the rest for a refund of the decision', async () => {
    const { limiter, spend, remaining, refund } = started();
    spend(order(5));
    const decision = spend(order(4));
    await coreOf(limiter).settle(decision, decision.results.at(0)!, { cost: 1 });
    refund(decision);
    refund(decision);
    expect(remaining()).toBe(5);
  });

  test('and a refund of the rest give back together no more than what had not come back by itself', async () => {
    const { limiter, time } = limiterOnFakeTime({ Orders: { burst: 20, count: 1, period: '1s' } });
    const spend = (cost: number): Decision => atOnce(limiter.spend([order(cost)]));
    const decision = spend(10);
    time.advance(9000);
    await coreOf(limiter).settle(decision, decision.results.at(0)!, { cost: 5 });
    expect(spend(0).remaining).toBe(20);
    spend(1);
    atOnce(limiter.refund(decision));
    expect(spend(0).remaining).toBe(19);
  });

  test('takes nothing for a spend-only that did not fit', async () => {
    const { limiter, spend, remaining } = started();
    spend(order(7));
    const decision = spend(order(4, { mode: 'spend-only' }));
    for (const trueCost of [1, 4, 9]) {
      await coreOf(limiter).settle(decision, decision.results.at(0)!, { cost: trueCost });
      expect(remaining()).toBe(3);
    }
  });

  test('of a spend-only that fitted is charged and given back as any other', async () => {
    const { limiter, spend, remaining } = started();
    const settle = (decision: Decision, trueCost: number) =>
      coreOf(limiter).settle(decision, decision.results.at(0)!, { cost: trueCost });
    await settle(spend(order(4, { mode: 'spend-only' })), 1);
    expect(remaining()).toBe(9);
    await settle(spend(order(4, { mode: 'spend-only' })), 5);
    expect(remaining()).toBe(4);
  });

  test('concerns one limit of the decision', async () => {
    const { limiter, spend, remaining } = started();
    const decision = spend(order(4), { limit: 'Reads', id: '7', cost: 4 });
    await coreOf(limiter).settle(decision, decision.results.at(1)!, { cost: 0 });
    expect([remaining(), remaining('Reads')]).toEqual([6, 10]);
  });
});
