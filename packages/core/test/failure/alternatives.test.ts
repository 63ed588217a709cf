import {
  accountId,
  createLimiter,
  memoryStore,
  type FailurePolicy,
  type LimiterOptions,
  type Store,
} from '@sluice/core';
import type { StoreOperation, StoreReading } from '@sluice/core/store';
import { FakeTime } from '@sluice/core/testing';
import { describe, expect, test } from 'vitest';
import { MapStore } from '../testing/map-store.ts';

const down = new Error('down');
const own = { limit: 'Own', id: '7' } as const;
const pool = { limit: 'Pool', id: '7' } as const;
const firstOf = [[own], [pool]];
const key = accountId();

/** A store that does what it is told, or else what a store does. */
class ToldStore extends MapStore {
  told: (() => unknown) | undefined;
  asked = 0;

  override run(operation: StoreOperation): Promise<StoreReading> {
    this.asked++;
    return this.told === undefined ? super.run(operation) : (this.told() as Promise<StoreReading>);
  }
}

function limiterOf(told?: () => unknown, { own: ownPolicy, pool: poolPolicy, ...options }: Options = {}) {
  const time = new FakeTime();
  const store = new ToldStore(time);
  store.told = told;
  const limits = {
    Own: { key, count: 2, period: '1m', onFailure: ownPolicy },
    Pool: { key, count: 4, period: '1m', onFailure: poolPolicy },
  };
  return { store, time, limiter: createLimiter({ limits, store, time, log: false, ...options }) };
}

type Options = Partial<LimiterOptions> & { own?: FailurePolicy; pool?: FailurePolicy };

const fails = (): unknown => Promise.reject(down);

describe('when the store can not answer, alternatives are decided by policies', () => {
  test('in order, in this process', async () => {
    const { limiter } = limiterOf(fails);
    const decisions = [];
    for (let i = 0; i < 7; i++) decisions.push(await limiter.spend({ firstOf }));
    const limits = ['Own', 'Own', 'Pool', 'Pool', 'Pool', 'Pool', 'Pool'];
    expect(decisions.map(({ limit }) => limit)).toEqual(limits);
    expect(decisions.map(({ allowed }) => allowed)).toEqual([...Array<boolean>(6).fill(true), false]);
    expect(decisions.at(0)?.failure).toEqual({ policy: 'local', cause: down });
    expect(decisions.at(4)?.failure).toMatchObject({ policy: 'local' });
    expect(limiter.status()).toMatchObject({ state: 'failing', decidedByPolicy: 7 });
  });

  test('by a share of this process, and a refund goes there', async () => {
    const { limiter } = limiterOf(fails, { failure: { gateways: 2 } });
    await limiter.spend({ firstOf });
    const second = await limiter.spend({ firstOf });
    expect(second).toMatchObject({ allowed: true, limit: 'Pool', remaining: 1 });
    expect(await limiter.refund(second)).toMatchObject([{ limit: 'Pool', remaining: 2 }]);
  });

  test('for a check as for a spend, and nothing is taken', async () => {
    const { limiter } = limiterOf(fails);
    for (let i = 0; i < 3; i++) expect(await limiter.check({ firstOf })).toMatchObject({ allowed: true, limit: 'Own' });
    await limiter.spend([{ ...own, cost: 2 }]);
    expect(await limiter.check({ firstOf })).toMatchObject({ allowed: true, limit: 'Pool', remaining: 4 });
  });

  test('as unavailable when a limit of any of them is closed', async () => {
    const { limiter } = limiterOf(fails, { pool: 'closed' });
    for (const call of ['spend', 'check'] as const) {
      expect(await limiter[call]({ firstOf })).toMatchObject({
        outcome: 'unavailable',
        limit: 'Pool',
        retryAfterMs: 1000,
        failure: { policy: 'closed', cause: down },
      });
    }
  });

  test('without those after an alternative of unlimited ids, which passes in any case', async () => {
    const { limiter } = limiterOf(fails, { pool: 'closed', overrides: { Pool: { all: 'unlimited' } } });
    const inOrder = { firstOf: [[own], [{ limit: 'Pool', id: 'all' }], [pool]] };
    for (const limit of ['Own', 'Own', null]) {
      expect(await limiter.spend(inOrder)).toMatchObject({ outcome: 'allowed', limit });
    }
  });

  test('as allowed when only open limits are in the first', async () => {
    const { limiter } = limiterOf(fails, { own: 'open' });
    expect(await limiter.spend({ firstOf })).toMatchObject({ allowed: true, results: [], failure: { policy: 'open' } });
  });

  test('as allowed when only open limits are in a later one, once those before are denied', async () => {
    const { limiter } = limiterOf(fails, { pool: 'open' });
    for (const policy of ['local', 'local', 'open']) {
      expect(await limiter.spend({ firstOf })).toMatchObject({ allowed: true, failure: { policy } });
    }
  });

  test('without asking the store once it has failed three times in a row', async () => {
    const { limiter, store } = limiterOf(fails);
    for (let i = 0; i < 6; i++) await limiter.spend({ firstOf });
    expect(store.asked).toBe(3);
  });

  test('at once when the store fails at once', async () => {
    const { limiter } = limiterOf(() => {
      throw down;
    });
    expect(await limiter.spend({ firstOf })).toMatchObject({ allowed: true, limit: 'Own', failure: { cause: down } });
  });

  test('when it misses the deadline', async () => {
    const { limiter, time } = limiterOf(() => new Promise(() => {}));
    const decision = limiter.spend({ firstOf });
    await time.pass(50);
    expect(await decision).toMatchObject({ failure: { policy: 'local', cause: { code: 'ERR_STORE_DEADLINE' } } });
  });
});

describe('an answer that is no answer counts as a failure', () => {
  const empty = 4 * 60 * 16_000_000;
  const read = (passed: unknown, ...levelsTicks: number[]) => ({ passed, nowTicks: 7, levelsTicks });

  test.each<[what: string, answer: unknown]>([
    ['is an array', [read(0, 0)]],
    ['is empty', read(0)],
    ['has levels of more alternatives than there are', read(-1, empty, empty, empty)],
    ['ends before one has passed', read(-1, empty)],
    ['goes on after one has passed', read(0, 0, empty)],
    ['does not say which one passed', read(undefined, empty, 0)],
    ['says that one passed that was not asked', read(2, empty, empty)],
    ['says that none passed in another way', read(-2, empty, empty)],
    ['says what passed as text', read('1', empty, 0)],
    ['has a wrong level', read(0, -3)],
    ['has no levels', { passed: 0, nowTicks: 7 }],
    ['has nothing at all', undefined],
  ])('when it %s', async (_what, answer) => {
    const { limiter } = limiterOf(() => Promise.resolve(answer));
    const decision = await limiter.spend({ firstOf });
    expect(decision).toMatchObject({ failure: { policy: 'local', cause: { code: 'ERR_STORE_ANSWER' } } });
  });

  test('of check too', async () => {
    const { limiter } = limiterOf(() => Promise.resolve(read(0, 0, 0)));
    expect(await limiter.check({ firstOf })).toMatchObject({ failure: { cause: { code: 'ERR_STORE_ANSWER' } } });
  });

  test('and a right one is the decision', async () => {
    const { limiter } = limiterOf(() => Promise.resolve(read(1, empty, 0)));
    expect(await limiter.spend({ firstOf })).toMatchObject({ allowed: true, limit: 'Pool', remaining: 3 });
    expect(limiter.status().state).toBe('up');
  });

  test('and one from memory is the decision, and no sign of life', async () => {
    const { limiter, store, time } = limiterOf(fails);
    for (let i = 0; i < 3; i++) await limiter.spend({ firstOf });
    time.advance(100);
    store.told = () => Promise.resolve({ ...read(-1, empty, empty), remembered: true });
    expect(await limiter.spend({ firstOf })).toMatchObject({ outcome: 'denied' });
    expect(limiter.status().state).toBe('failing');
  });

  test('nor is a promise of a store that answers at once', async () => {
    const promising: Store = Object.assign(Object.create(memoryStore()) as Store, {
      run: () => Promise.reject(down),
    });
    const limiter = createLimiter({ limits: { Own: { key, count: 2, period: '1m' } }, store: promising, log: false });
    await expect(limiter.spend({ firstOf: [[own], [{ ...own, cost: 2 }]] })).rejects.toThrow('returned a promise');
  });
});
