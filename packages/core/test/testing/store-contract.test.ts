import { describe, expect, test } from 'vitest';
import type { StoreBucket } from '../../src/store/store.ts';
import { FakeTime, storeContract, type StoreContractOptions } from '../../src/testing/index.ts';
import { brokenPromises, contractOf } from './broken-promises.ts';
import { MapStore } from './map-store.ts';

describe('the contract of stores', () => {
  test('is kept by a store without the trait periods, which gets none', async () => {
    class WithoutPeriods extends MapStore {
      override readonly traits = {};
      override endOf(): number {
        throw new Error('It got a period.');
      }
    }
    expect(await brokenPromises(WithoutPeriods)).toEqual([]);
  });

  test('is kept by a store without the trait slots, which gets none', async () => {
    class WithoutSlots extends MapStore {
      override readonly traits = { periods: true } as const;
      override key(bucket: StoreBucket): string {
        if (bucket.slots === true) throw new Error('It got slots.');
        return super.key(bucket);
      }
    }
    expect(await brokenPromises(WithoutSlots)).toEqual([]);
  });

  test('is passed by a plain map that answers by promises', async () => {
    expect(await brokenPromises(MapStore)).toEqual([]);
  });

  test('has a name of its own for every case', () => {
    const names = contractOf(MapStore).map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
  });

  test('calls the methods of its subject on the subject', async () => {
    class Subject {
      readonly time = new FakeTime();
      readonly store = new MapStore(this.time);
      advance(ms: number): void {
        this.time.advance(ms);
      }
      stepBack(ms: number): void {
        this.time.set(this.time.nowMs - ms);
      }
    }
    const cases = storeContract({ clock: 'steered', create: () => new Subject() });
    await expect(Promise.all(cases.map(({ run }) => run()))).resolves.toHaveLength(cases.length);
  });

  test('closes every store, also of a case that fails', async () => {
    const made: MapStore[] = [];
    const cases = storeContract({
      clock: 'steered',
      create: () => {
        const store = new MapStore(new FakeTime());
        store.fits = () => false;
        made.push(store);
        return { store, advance: () => {}, stepBack: () => {} };
      },
    });
    await Promise.allSettled(cases.map(({ run }) => run()));
    expect(made).toHaveLength(cases.length);
    expect(made.every(({ closed }) => closed)).toBe(true);
  });

  test('leaves out cases that a real clock can not show', () => {
    const real = storeContract({
      clock: 'real',
      create: () => ({ store: new MapStore(new FakeTime()), advance: () => {} }),
    }).map(({ name }) => name);
    const steered = contractOf(MapStore).map(({ name }) => name);
    const left = steered.filter((name) => !real.includes(name));
    expect(left).toContain('exactly seven of seven per second fit at one instant');
    expect(left).toHaveLength(18);
  });

  const create = (): number => 0;

  test.each([
    [{ clock: 'steered' }, 'ERR_OPTION', /^`create` must be a function, but was undefined\. It makes a fresh store/],
    [{ create }, 'ERR_OPTION', /^`clock` must be 'steered' or 'real', but was undefined\. Use 'steered' if/],
    [{ clock: 'steered', create, store: 1 }, 'ERR_UNKNOWN_OPTION', /has no option `store`/],
    [create, 'ERR_OPTION', /^`storeContract` must be an object/],
  ])('rejects the options %j', (options, code, message) => {
    const wrong = options as unknown as StoreContractOptions;
    expect(() => storeContract(wrong)).toThrow(message);
    expect(() => storeContract(wrong)).toThrow(expect.objectContaining({ code }));
  });
});
