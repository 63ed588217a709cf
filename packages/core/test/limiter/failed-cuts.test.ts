import { memoryStore } from '@sluice/core';
import type { StoreCap, StoreOperation } from '@sluice/core/store';
import { FakeTime } from '@sluice/core/testing';
import { describe, expect, test } from 'vitest';
import { MapStore } from '../testing/map-store.ts';
import { all, daily, limiterOn, quick, setOf, twoOn } from './raised.ts';

describe('decisions on a bucket while its cut is in progress', () => {
  test('wait for it and are made again, so that they never report the old wait', async () => {
    const store = new MapStore(new FakeTime());
    const rightCap = store.cap.bind(store);
    let arrive = (): void => undefined;
    const arrived = new Promise<void>((resolve) => (arrive = resolve));
    Object.assign(store, { cap: (debts: readonly StoreCap[]) => arrived.then(() => rightCap(debts)) });
    const limiter = limiterOn(store, daily);
    await limiter.spend([...all(), { limit: 'Orders', id: '8', cost: 5 }]);
    limiter.replace(setOf(quick));
    const denials = [limiter.spend(all(1)), limiter.check(all(1)), limiter.spend([...all(1), ...all(1, '8')])];
    await new Promise((resolve) => setImmediate(resolve));
    arrive();
    for (const denial of await Promise.all(denials))
      expect(denial).toMatchObject({ allowed: false, retryAfterMs: 200 });
  });
});

describe('a cut that failed is tried again at the next denial', () => {
  /** Creates a limiter with a raised limit and a bucket in debt, on a store with this `cap`. */
  async function raisedOn(cap: MapStore['cap']) {
    const store = new MapStore(new FakeTime());
    const rightCap = store.cap.bind(store);
    Object.assign(store, { cap });
    const limiter = limiterOn(store, daily);
    await limiter.spend([...all(), { limit: 'Orders', id: '8', cost: 5 }]);
    limiter.replace(setOf(quick));
    return { limiter, repair: () => Object.assign(store, { cap: rightCap }) };
  }

  const quickDenial = { allowed: false, retryAfterMs: 200 };

  test.each<[string, MapStore['cap']]>([
    ['rejects', () => Promise.reject(new Error('read only'))],
    ['hangs', () => new Promise(() => undefined)],
    [
      'throws',
      () => {
        throw new Error('read only');
      },
    ],
  ])('on a store that %s', async (_how, cap) => {
    const { limiter, repair } = await raisedOn(cap);
    expect((await limiter.spend(all(1))).retryAfterMs).toBeGreaterThan(3_600_000);
    repair();
    expect(await limiter.spend(all(1))).toMatchObject(quickDenial);
  });

  test('after the store threw an error of wrong use, which reaches the caller', async () => {
    const store = memoryStore({ time: new FakeTime() });
    const right = store.run.bind(store);
    Object.assign(store, {
      run: (operation: StoreOperation) => {
        if (operation.kind === 'cap') throw new Error('broken');
        return right(operation);
      },
    });
    const limiter = limiterOn(store, daily);
    limiter.spendSync(all());
    limiter.replace(setOf(quick));
    await expect(limiter.spend(all(1))).rejects.toThrow('broken');
    Object.assign(store, { run: right });
    expect(limiter.spendSync(all(1))).toMatchObject(quickDenial);
  });

  test('for its own bucket, while another bucket was cut by another call', async () => {
    let calls = 0;
    const { limiter, repair } = await raisedOn(() => {
      calls += 1;
      return Promise.reject(new Error('read only'));
    });
    await limiter.spend(all(1, '8'));
    repair();
    expect(await limiter.spend(all(1, '8'))).toMatchObject(quickDenial);
    expect(await limiter.spend(all(1))).toMatchObject(quickDenial);
    expect(calls).toBe(1);
  });

  test('once, however many denials of a bucket follow while its cut is in progress', async () => {
    const failed: ((cause: Error) => void)[] = [];
    const { limiter, repair } = await raisedOn(() => new Promise((_, reject) => failed.push(reject)));
    const denials = Promise.all(Array.from({ length: 20 }, () => limiter.spend(all(1))));
    await new Promise((resolve) => setImmediate(resolve));
    expect(failed).toHaveLength(1);
    for (const reject of failed) reject(new Error('read only'));
    for (const denial of await denials) expect(denial).toMatchObject({ allowed: false, failure: undefined });
    repair();
    expect(await limiter.spend(all(1))).toMatchObject(quickDenial);
  });

  test('for the change whose cut failed, and not for an earlier change that has cut the bucket', async () => {
    const time = new FakeTime();
    const store = new MapStore(time);
    const rightCap = store.cap.bind(store);
    const [old, raised] = twoOn(store, daily);
    await old.spend(all());
    raised.replace(setOf(quick));
    await raised.spend(all(1));
    raised.replace(setOf({ count: 50, period: '1s', burst: 5 }));
    Object.assign(store, { cap: () => Promise.reject(new Error('read only')) });
    expect(await raised.spend(all(1))).toMatchObject({ allowed: false, resetAfterMs: 1000 });
    Object.assign(store, { cap: rightCap });
    await old.charge(all());
    expect((await raised.spend(all(1))).retryAfterMs).toBeGreaterThan(3_600_000);
  });
});

test('after a cut no further call is made for it', async () => {
  const calls: string[] = [];
  const inner = new MapStore(new FakeTime());
  const store = new Proxy(inner, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== 'function') return value;
      return (...args: unknown[]): unknown => {
        calls.push((args[0] as StoreOperation).kind);
        return Reflect.apply(value, target, args);
      };
    },
  });
  const limiter = limiterOn(store, daily);
  await limiter.spend(all());
  limiter.replace(setOf(quick));
  for (let turn = 0; turn < 3; turn++) await limiter.spend(all(1));
  expect(calls).toEqual(['spend', 'spend', 'cap', 'spend', 'spend', 'spend']);
});
