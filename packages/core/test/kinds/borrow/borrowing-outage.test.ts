import { accountId, createLimiter, everyone, memoryStore, type LimiterEvent, type Store } from '@sluice/core';
import { borrow } from '@sluice/core/borrow';
import { storeGuard, type StoreOperation } from '@sluice/core/store';
import { FakeTime } from '@sluice/core/testing';
import { describe, expect, test } from 'vitest';

const CALLS: readonly StoreOperation['kind'][] = ['spend', 'check', 'charge', 'refund', 'reset'];

describe('a limit that borrows, while the store can not answer', () => {
  const limits = (onFailure: 'local' | 'open' | 'closed') => ({
    PerUser: borrow({
      key: accountId(),
      burst: 4,
      count: 4,
      period: '100s',
      onFailure,
      borrow: { from: 'Pool', ceiling: { burst: 8, count: 8, period: '100s' }, fair: false, tenants: 2 },
    }),
    // The policy of a pool is ignored for the limits that borrow from it.
    Pool: { key: everyone(), burst: 12, count: 12, period: '100s', onFailure: 'closed' as const },
  });

  /** @param failing - The calls in which the store fails. */
  function started(onFailure: 'local' | 'open' | 'closed', failing: readonly StoreOperation['kind'][] = CALLS) {
    const time = new FakeTime();
    const down = (): never => {
      throw new Error('down');
    };
    const working = memoryStore({ time });
    const store: Store = {
      guard: storeGuard,
      run: (operation) => (failing.includes(operation.kind) ? down() : working.run(operation)),
      close: () => undefined,
    };
    const events: LimiterEvent[] = [];
    const onEvent = (event: LimiterEvent) => events.push(event);
    const failure = { gateways: 2 };
    const limiter = createLimiter({ limits: limits(onFailure), store, failure, time, log: false, onEvent });
    const spend = async (id = 'a', cost = 1) => limiter.spend([{ limit: 'PerUser', id, cost }]);
    return { limiter, spend, events };
  }

  test('local: this process lends its part of the pool beside its part of the assured rate', async () => {
    const { limiter, spend } = started('local');
    const outcomes = [];
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    for (let i = 0; i < 5; i++) outcomes.push((await spend()).results[0]);
    expect(outcomes.map((result) => [result?.allowed, result?.borrowed])).toEqual([
      [true, false],
      [true, false],
      [true, true],
      [true, true],
      [false, false],
    ]);
    expect(outcomes[0]).toMatchObject({ burst: 2 });
    expect((await spend('b', 2)).results[0]).toMatchObject({ allowed: true, borrowed: false });
    // The local pool is empty; b and c have their own tokens.
    expect((await spend('b')).outcome).toBe('denied');
    expect((await spend('c', 2)).results[0]).toMatchObject({ allowed: true, borrowed: false });
    const decision = await spend('d');
    expect(await limiter.refund(decision)).toMatchObject([{ limit: 'PerUser', remaining: 2 }]);
    expect(await limiter.charge([{ limit: 'PerUser', id: 'd', cost: 1 }])).toMatchObject([{ remaining: 1 }]);
  });

  test('open: every request passes, and nothing is counted', async () => {
    const { spend } = started('open');
    for (let i = 0; i < 20; i++) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      expect(await spend()).toMatchObject({ outcome: 'allowed', failure: { policy: 'open' }, results: [] });
    }
  });

  test('closed: no request passes', async () => {
    expect(await started('closed').spend()).toMatchObject({ outcome: 'unavailable', failure: { policy: 'closed' } });
  });

  test('a charge or a refund that is lost counts once, and not once for each of its buckets', async () => {
    const { limiter, spend, events } = started('open', ['charge', 'refund']);
    const [own, borrowed] = [await spend('a', 4), await spend('a')];
    expect([own, borrowed].map(({ results: [result] }) => result?.borrowed)).toEqual([false, true]);
    await limiter.refund(own);
    await limiter.refund(borrowed);
    await limiter.refund([
      { limit: 'PerUser', id: 'a' },
      { limit: 'PerUser', id: 'b' },
    ]);
    await limiter.charge([
      { limit: 'PerUser', id: 'a' },
      { limit: 'PerUser', id: 'b' },
      { limit: 'Pool', id: 'everyone' },
    ]);
    await limiter.close();
    const lost = (type: string) =>
      events.flatMap((event) => (event.type === type && 'count' in event ? [event.count] : []));
    expect(lost('refund-lost')).toEqual([1, 3]);
    expect(lost('charge-lost')).toEqual([3]);
  });
});
