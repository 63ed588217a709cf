import { describe, expect, test } from 'vitest';
import type { BucketTable } from '../../../src/store/memory/bucket-table.ts';
import { LimitTables } from '../../../src/store/memory/limit-tables.ts';
import { hashes, tablesOf, type Hash } from './tables.ts';

const NOW = 1000;

function emptyTable(): BucketTable {
  return new LimitTables().create('A');
}

function tableOf(buckets: readonly Hash[], tat: number): BucketTable {
  return tablesOf({ A: buckets }, tat, NOW).find('A')!;
}

describe('the table of buckets', () => {
  test('keeps every TAT while it grows', () => {
    const buckets = hashes(50_000, 1);
    const table = emptyTable();
    for (const [i, [low, high]] of buckets.entries()) table.put(low, high, NOW + 1 + i, NOW);
    expect(buckets.every(([low, high], i) => table.tat(low, high) === NOW + 1 + i)).toBe(true);
    expect(table.size).toBe(50_000);
  });

  test('returns a TAT that has always passed for an unknown bucket', () => {
    const table = tableOf(hashes(100, 1), NOW + 1);
    expect(table.tat(1, 1)).toBe(-Infinity);
    table.remove(1, 1);
    expect(table.size).toBe(100);
  });

  test('knows a bucket no more after it was removed, and again after it was put', () => {
    const table = tableOf([[5, 6]], NOW + 1);
    expect(table.tat(5, 6)).toBe(NOW + 1);
    table.remove(5, 6);
    expect(table.tat(5, 6)).toBe(-Infinity);
    table.put(5, 6, NOW + 2, NOW);
    expect(table.tat(5, 6)).toBe(NOW + 2);
  });

  test('takes a kilobyte when it is new, and at most 40 bytes a bucket when it is large', () => {
    expect(emptyTable().bytes).toBeLessThan(2000);
    const table = tableOf(hashes(60_000, 2), NOW + 1);
    expect(table.bytes).toBeLessThan(60_000 * 40);
  });

  test('does not grow for buckets that have passed', () => {
    const tables = new LimitTables();
    const table = tables.create('A');
    for (const [i, [low, high]] of hashes(100_000, 3).entries()) table.put(low, high, i + 20, i);
    expect(table.bytes).toBeLessThan(3000);
    expect(tables.totals).toMatchObject({ size: table.size, swept: 100_000 - table.size });
  });

  test('drops a bucket at the moment of its TAT before it grows', () => {
    const tables = tablesOf({ A: hashes(51, 11) }, NOW, NOW);
    expect(tables.totals.size).toBe(51);
    tables.find('A')!.put(1, 1, NOW + 1, NOW);
    expect(tables.totals).toEqual({ size: 1, swept: 51, evicted: 0 });
  });

  test('distinguishes hashes by both of their words, one after the other', () => {
    const table = tableOf([[9, 1]], NOW + 1);
    expect([table.tat(9, 1), table.tat(9, 2)]).toEqual([NOW + 1, -Infinity]);
  });

  test('stores many buckets whose hashes begin with the same bits', () => {
    const alike = hashes(10_000, 4).map(([low, high]) => [low, (high >>> 8) | 0] as const);
    const table = tableOf(alike, NOW + 1);
    expect(alike.every(([low, high]) => table.tat(low, high) === NOW + 1)).toBe(true);
    expect(table.tat(1, -1)).toBe(-Infinity);
  });
});
