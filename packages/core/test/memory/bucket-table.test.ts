import { describe, expect, test } from 'vitest';
import { BucketTable } from '../../src/memory/bucket-table.ts';
import { Sweep } from '../../src/memory/sweep.ts';
import { numbersFrom } from './numbers.ts';

const NOW = 1000;

function hashes(count: number, seed: number): (readonly [low: number, high: number])[] {
  const random = numbersFrom(seed);
  return Array.from({ length: count }, () => [(random() * 2 ** 32) | 1, (random() * 2 ** 32) | 0] as const);
}

function tableOf(buckets: readonly (readonly [number, number])[], tat: number): BucketTable {
  const table = new BucketTable();
  for (const [low, high] of buckets) table.put(low, high, tat, NOW);
  return table;
}

describe('the table of buckets', () => {
  test('keeps every TAT while it grows', () => {
    const buckets = hashes(50_000, 1);
    const table = new BucketTable();
    for (const [i, [low, high]] of buckets.entries()) table.put(low, high, NOW + 1 + i, NOW);
    expect(buckets.every(([low, high], i) => table.tat(low, high) === NOW + 1 + i)).toBe(true);
    expect(table.size).toBe(50_000);
  });

  test('gives a bucket that it does not hold a TAT that has always passed', () => {
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
    expect(new BucketTable().bytes).toBeLessThan(2000);
    const table = tableOf(hashes(60_000, 2), NOW + 1);
    expect(table.bytes).toBeLessThan(60_000 * 40);
  });

  test('does not grow for buckets that have passed', () => {
    const table = new BucketTable();
    for (const [i, [low, high]] of hashes(100_000, 3).entries()) table.put(low, high, i + 20, i);
    expect(table.bytes).toBeLessThan(3000);
    expect(table.size + table.swept).toBe(100_000);
  });

  test('drops a bucket at the moment of its TAT before it grows', () => {
    const table = tableOf(hashes(51, 11), NOW);
    expect(table.size).toBe(51);
    table.put(1, 1, NOW + 1, NOW);
    expect(table).toMatchObject({ size: 1, swept: 51 });
  });

  test('tells hashes apart by both of their words, one after the other', () => {
    const table = tableOf([[9, 1]], NOW + 1);
    expect([table.tat(9, 1), table.tat(9, 2)]).toEqual([NOW + 1, -Infinity]);
  });

  test('holds buckets together whose hashes begin with the same bits', () => {
    const alike = hashes(10_000, 4).map(([low, high]) => [low, (high >>> 8) | 0] as const);
    const table = tableOf(alike, NOW + 1);
    expect(alike.every(([low, high]) => table.tat(low, high) === NOW + 1)).toBe(true);
    expect(table.tat(1, -1)).toBe(-Infinity);
  });
});

describe('the sweep', () => {
  test('drops all that has passed and gives the memory back, four slots for each operation', () => {
    const table = tableOf(hashes(50_000, 5), NOW + 1);
    const slots = table.bytes / 16;
    const sweep = new Sweep(table);
    let mostAtOnce = 0;
    for (let step = 0; step < slots / 2; step++) {
      const before = table.size;
      sweep.step(NOW + 1);
      mostAtOnce = Math.max(mostAtOnce, before - table.size);
    }
    // 64, and those that a removal moves up into them.
    expect(mostAtOnce).toBeLessThan(2 * 64);
    expect(table.size).toBe(0);
    expect(table.swept).toBe(50_000);
    expect(table.bytes).toBe(new BucketTable().bytes);
  });

  test('keeps what has not passed, and every TAT of it, while the table shrinks', () => {
    const live = hashes(50, 6);
    const table = tableOf([...hashes(50_000, 7)], NOW + 1);
    for (const [i, [low, high]] of live.entries()) table.put(low, high, NOW + 100 + i, NOW);
    const sweep = new Sweep(table);
    for (let step = 0; step < 60_000; step++) sweep.step(NOW + 50);
    expect(live.every(([low, high], i) => table.tat(low, high) === NOW + 100 + i)).toBe(true);
    expect(table.size).toBe(50);
    expect(table.bytes).toBeLessThan(3000);
  });

  test('gives memory back where there is one segment only', () => {
    const table = tableOf(hashes(2000, 10), NOW + 1);
    expect(table.bytes).toBeGreaterThan(60_000);
    const sweep = new Sweep(table);
    for (let step = 0; step < 4000; step++) sweep.step(NOW + 1);
    expect(table.bytes).toBe(new BucketTable().bytes);
  });

  test('gives memory back where only one half of the hashes has passed', () => {
    const table = tableOf(hashes(40_000, 8), NOW + 1);
    for (const [low, high] of hashes(40_000, 9)) table.put(low, high | (1 << 31), NOW + 100, NOW);
    const full = table.bytes;
    const sweep = new Sweep(table);
    for (let step = 0; step < 60_000; step++) sweep.step(NOW + 50);
    expect(table.size).toBe(40_000);
    expect(table.bytes).toBeLessThan(full);
    expect(table.bytes).toBeLessThan(40_000 * 54);
  });
});
