import { describe, expect, test } from 'vitest';
import { createLimiter } from '../../../src/limiter/create-limiter.ts';
import { accountId } from '../../../src/keys/key.ts';
import { memoryStore } from '../../../src/store/memory/memory-store.ts';
import type { StorePressure, StoreTransaction } from '../../../src/store/store.ts';
import { FakeTime } from '../../../src/testing/fake-time.ts';
import { callsOf } from '@sluice/core/testing';

const HOUR = 3600 * 16_000_000;
const TEN_MINUTES_MS = 600_000;

function transaction(id: string, limit = 'Mails'): StoreTransaction {
  return { limit, id, incrementTicks: HOUR, fitTicks: 10 * HOUR, capTicks: 10 * HOUR, mode: 'check-and-spend' };
}

function watched(maxKeys = 100) {
  const time = new FakeTime();
  const store = memoryStore({ maxKeys, time });
  const reports: StorePressure[] = [];
  const end = store.watch((pressure) => reports.push(pressure));
  const spend = (from: number, to: number, limit?: string) => {
    for (let i = from; i < to; i++) callsOf(store).spend([transaction(`${i}`, limit)]);
  };
  return { time, store, reports, end, spend };
}

describe('the reports of a memory store', () => {
  test('begin when it is nine tenths full, and name the limit with the most buckets', () => {
    const { reports, spend } = watched();
    spend(0, 30, 'Logins');
    spend(0, 60);
    expect(reports).toEqual([]);
    spend(60, 61);
    expect(reports).toEqual([
      { type: 'pressure', size: 91, maxKeys: 100, evicted: 0, largest: { limit: 'Mails', size: 61 } },
    ]);
    spend(61, 70);
    expect(reports).toHaveLength(1);
  });

  test('report the first bucket that is evicted in debt at once', () => {
    const { reports, spend } = watched();
    spend(0, 101);
    expect(reports.map(({ size, evicted }) => [size, evicted])).toEqual([
      [91, 0],
      [100, 1],
    ]);
  });

  test('are repeated after ten minutes, with all evictions in the meantime', () => {
    const { time, reports, spend } = watched();
    spend(0, 150);
    time.advance(TEN_MINUTES_MS - 0.001);
    spend(150, 160);
    expect(reports).toHaveLength(2);
    time.advance(0.001);
    spend(160, 161);
    expect(reports.slice(2)).toMatchObject([{ evicted: 60 }]);
    time.advance(TEN_MINUTES_MS);
    spend(160, 161);
    expect(reports.slice(3)).toMatchObject([{ size: 100, evicted: 0 }]);
  });

  test('do not count buckets that were full again', () => {
    const { time, reports, spend } = watched();
    spend(0, 90);
    time.advance(3_600_000);
    spend(90, 300);
    expect(reports.every(({ evicted }) => evicted < 210)).toBe(true);
    expect(reports[0]).toMatchObject({ evicted: 0 });
  });

  test('wait for a listener', () => {
    const { reports, end, spend, store } = watched();
    end();
    spend(0, 150);
    store.watch((pressure) => reports.push(pressure));
    expect(reports).toEqual([]);
    spend(150, 151);
    expect(reports).toMatchObject([{ evicted: 51 }]);
  });

  test('reach all listeners, and a listener may call the store', () => {
    const { reports, spend, store } = watched();
    store.watch(() => void callsOf(store).spend([transaction('by a listener')]));
    store.watch((pressure) => reports.push(pressure));
    spend(0, 91);
    expect(reports.map(({ size }) => size)).toEqual([91, 91]);
    expect(store.stats().size).toBe(92);
  });

  test('can be ended by a listener while they are made', () => {
    const { reports, spend, store } = watched();
    const end = store.watch(() => end());
    store.watch((pressure) => reports.push(pressure));
    spend(0, 101);
    expect(reports).toHaveLength(4);
  });
});

describe('a limiter on a memory store', () => {
  function limited(maxKeys = 100) {
    const store = memoryStore({ maxKeys, time: new FakeTime() });
    const lines: string[] = [];
    const types: string[] = [];
    const limiter = createLimiter({
      limits: { Mails: { key: accountId(), count: 2, period: '1d' } },
      store,
      log: (line) => void lines.push(line),
      onEvent: ({ type }) => void types.push(type),
    });
    const flood = (ids: number) => {
      for (let i = 0; i < ids; i++) void limiter.spend([{ limit: 'Mails', id: `${i}` }]);
    };
    return { limiter, store, lines, types, flood };
  }

  test('warns when the store is nearly full, with the figures and the remedy', () => {
    const { flood, lines, types } = limited();
    flood(91);
    expect(types).toEqual(['warning']);
    expect(lines).toEqual([
      'Sluice: The store is nearly full: 91 of at most 100 buckets, 91 of them of limit "Mails". ' +
        'When it is full, it evicts buckets of the limit that has most of them. ' +
        'If so many clients are real, keep more buckets: memoryStore({ maxKeys: 200 }).',
    ]);
  });

  test('reports that buckets in debt are evicted, once for 60,000 of them', () => {
    const { flood, types, store } = limited();
    flood(60_000);
    expect(types).toEqual(['warning', 'buckets-evicted']);
    expect(store.stats().evicted).toBe(59_900);
  });

  test('logs that buckets are evicted right after the line that the store is nearly full', () => {
    const { flood, lines } = limited();
    flood(60_000);
    expect(lines).toHaveLength(2);
    expect(lines[1]).toMatch(/^Sluice: The store is full: 100 of at most 100 buckets/);
  });

  test.each([
    { ids: 101, evicted: '1 bucket' },
    { ids: 103, evicted: '3 buckets' },
  ])('reports that $evicted in debt were evicted', ({ ids, evicted }) => {
    const { limiter, lines } = limited();
    void limiter.spend(Array.from({ length: ids }, (_, i) => ({ limit: 'Mails', id: `${i}` })));
    expect(lines).toEqual([
      'Sluice: The store is full: 100 of at most 100 buckets, 100 of them of limit "Mails". ' +
        `Since the last such event it evicted ${evicted} with spent tokens: these clients get their burst again. ` +
        'If so many clients are real, keep more buckets: memoryStore({ maxKeys: 200 }).',
    ]);
  });

  test('gets no events after it was closed', () => {
    const { flood, limiter, store, types } = limited();
    flood(50);
    void limiter.close();
    for (let i = 0; i < 200; i++) callsOf(store).spend([transaction(`${i}`)]);
    expect(types).toEqual([]);
  });
});
