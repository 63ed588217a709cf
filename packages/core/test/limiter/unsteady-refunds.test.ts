import { createLimiter, memoryStore, SluiceError, type Awaitable, type LimiterEvent, type Store } from '@sluice/core';
import { storeGuard, type StoreRefund } from '@sluice/core/store';
import { FakeTime } from '@sluice/core/testing';
import { describe, expect, test } from 'vitest';
import { coreOf } from '../../src/limiter/create-limiter.ts';
import { accountLimits } from '../support/limiter-on-fake-time.ts';
import { MapStore } from '../testing/map-store.ts';
import { numbers, order } from './spending.ts';

describe('on a store that fails at times, the refund of a decision', () => {
  const down = new Error('connection lost');

  /** Creates a limiter on a store whose refunds can be replaced. */
  function onUnsteadyStore() {
    const inner = memoryStore({ time: new FakeTime() });
    const later = async <T>(answer: () => Awaitable<T>): Promise<T> => answer();
    const given: number[] = [];
    const state = { refund: later };
    const store: Store = {
      guard: storeGuard,
      run: (operation) => {
        const answer = () => inner.run(operation);
        if (operation.kind !== 'refund') return later(answer);
        given.push(operation.batch.length);
        return state.refund(answer);
      },
      close: () => inner.close(),
    };
    const events: LimiterEvent[] = [];
    const onEvent = (event: LimiterEvent): void => void events.push(event);
    const limiter = createLimiter({ limits: accountLimits(numbers), store, log: false, onEvent });
    const remaining = async () => (await limiter.check([order(0)])).remaining;
    return { limiter, state, later, given, events, remaining };
  }

  test('that failed gives back nothing, emits an event, and can be tried again', async () => {
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

  test('that the store rejects as wrong use is rejected, and can be tried again', async () => {
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

  test('beside a settlement that failed gives back everything when it is tried again', async () => {
    const { limiter, state, later, remaining } = onUnsteadyStore();
    const decision = await limiter.spend([order(9)]);
    state.refund = () => Promise.reject(down);
    await Promise.all([
      coreOf(limiter).settleResult(decision, decision.results.at(0)!, { cost: 4 }),
      limiter.refund(decision),
    ]);
    state.refund = later;
    await limiter.refund(decision);
    expect(await remaining()).toBe(10);
  });
});

describe('a settlement after a refund whose answer was late', () => {
  /** Spends 5 and 4, refunds the 4 on a store whose answer is lost, and settles them. Returns the tokens that remain. */
  async function settledTo(cost: number): Promise<number> {
    const inner = new MapStore(new FakeTime());
    const rightRefund = inner.refund.bind(inner);
    const lateAnswer = async (batch: readonly StoreRefund[]): Promise<never> => {
      void rightRefund(batch);
      Object.assign(inner, { refund: rightRefund });
      throw new SluiceError('ERR_STORE_DEADLINE', 'The store did not answer in time.');
    };
    Object.assign(inner, { refund: lateAnswer });
    const limiter = createLimiter({ limits: accountLimits(numbers), store: inner, log: false });
    await limiter.spend([order(5)]);
    const decision = await limiter.spend([order(4)]);
    expect(await limiter.refund(decision)).toEqual([]);
    await coreOf(limiter).settleResult(decision, decision.results.at(0)!, { cost });
    return (await limiter.check([order(0)])).remaining;
  }

  test('gives no token back twice', async () => expect(await settledTo(0)).toBe(5));

  test('charges what the cost is above the tokens that were taken', async () => expect(await settledTo(6)).toBe(3));
});

describe('a settlement waits for a refund of the decision that is in progress', () => {
  /** Spends 4 and settles 4 while a refund of the decision is in progress. Returns the tokens that remain. */
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
    const settled = coreOf(limiter).settleResult(decision, decision.results.at(0)!, { cost: 4 });
    arrive();
    await Promise.all([refund, settled]);
    return (await limiter.check([order(0)])).remaining;
  }

  test('and takes nothing more when the refund is lost', async () => expect(await settledBeside('lost')).toBe(6));

  test('and charges the cost again when the tokens were given back', async () =>
    expect(await settledBeside('given')).toBe(6));
});
