import { describe, expect, test } from 'vitest';
import { Eviction } from '../../../src/store/memory/eviction.ts';
import { LimitTables } from '../../../src/store/memory/limit-tables.ts';
import { numbersFrom } from './numbers.ts';

const NOW = 1000;

describe('eviction', () => {
  test('takes the bucket that is soonest full again', () => {
    const table = new LimitTables().create('A');
    for (let i = 0; i < 12; i++) table.put((i * 2 ** 28) | 1, 0, NOW + 1 + ((i * 5) % 12), NOW);
    const eviction = new Eviction(numbersFrom(1));
    for (let round = 0; round < 12; round++) {
      eviction.evict(table, NOW);
      const left = Array.from({ length: 12 }, (_, i) => table.tat((i * 2 ** 28) | 1, 0)).filter(Number.isFinite);
      expect(left.toSorted((a, b) => a - b)[0] ?? NOW + 13).toBe(NOW + 2 + round);
    }
    expect(table).toMatchObject({ size: 0, evicted: 12, evictedDebt: 12 });
  });

  test('takes one that has passed before any other, and does not count it as evicted', () => {
    const tables = new LimitTables();
    const table = tables.create('A');
    for (let i = 0; i < 12; i++) table.put((i * 2 ** 28) | 1, 0, i === 7 ? NOW : NOW + 1, NOW - 1);
    new Eviction(numbersFrom(1)).evict(table, NOW);
    expect(table.tat((7 * 2 ** 28) | 1, 0)).toBe(-Infinity);
    expect(tables.totals).toEqual({ size: 11, swept: 1, evicted: 0 });
  });

  test('spares every bucket of the larger half of debts while the smaller half is evicted down to a fifth', () => {
    const table = new LimitTables().create('A');
    const random = numbersFrom(3);
    const exhausted: (readonly [low: number, high: number])[] = [];
    for (let i = 0; i < 20_000; i++) {
      const bucket = [(random() * 2 ** 32) | 1, (random() * 2 ** 32) | 0] as const;
      if (i % 2 === 0) exhausted.push(bucket);
      table.put(...bucket, NOW + (i % 2 === 0 ? 2000 : 1000) + random() * 1000, NOW);
    }
    const eviction = new Eviction(random);
    for (let round = 0; round < 8000; round++) eviction.evict(table, NOW);
    expect(exhausted.filter(([low, high]) => table.tat(low, high) === -Infinity)).toEqual([]);
  });

  test('looks on when it meets a part of the table that is empty', () => {
    const table = new LimitTables().create('A');
    for (let i = 0; i < 4000; i++) table.put((i * 2 ** 20) | 1, i % 2 === 0 ? 1 : -1, NOW + 1 + i, NOW);
    for (let i = 0; i < 4000; i += 2) table.remove((i * 2 ** 20) | 1, 1);
    const places = [0.1, 0.2, 0.3, 0.4, 0.1, 0.9];
    new Eviction(() => places.shift() ?? 0.5).evict(table, NOW);
    expect(table).toMatchObject({ size: 1999, evicted: 1 });
  });
});
