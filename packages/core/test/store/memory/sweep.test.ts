import { describe, expect, test } from 'vitest';
import { LimitTables } from '../../../src/store/memory/limit-tables.ts';
import { Slots } from '../../../src/store/memory/slots.ts';
import { Sweep } from '../../../src/store/memory/sweep.ts';
import { hashes, putAll, tablesOf } from './tables.ts';

const NOW = 1000;
const EMPTY_BYTES = new LimitTables().create('A').bytes;

describe('the sweep', () => {
  test('drops all that has passed and gives the memory back, four slots for each operation', () => {
    const tables = tablesOf({ A: hashes(50_000, 5) }, NOW + 1, NOW);
    const slots = tables.bytes / 16;
    const sweep = new Sweep(tables, new Slots());
    let mostAtOnce = 0;
    for (let step = 0; step < slots / 2; step++) {
      const before = tables.totals.size;
      sweep.step(NOW + 1);
      mostAtOnce = Math.max(mostAtOnce, before - tables.totals.size);
    }
    // 64, and those that a removal moves up into them.
    expect(mostAtOnce).toBeLessThan(2 * 64);
    expect(tables.totals).toEqual({ size: 0, swept: 50_000, evicted: 0 });
    expect(tables.all).toEqual([]);
    expect(tables.bytes).toBe(0);
  });

  test('keeps what has not passed, and every TAT of it, while the table shrinks', () => {
    const live = hashes(50, 6);
    const tables = tablesOf({ A: hashes(50_000, 7) }, NOW + 1, NOW);
    const table = tables.find('A')!;
    for (const [i, [low, high]] of live.entries()) table.put(low, high, NOW + 100 + i, NOW);
    const sweep = new Sweep(tables, new Slots());
    for (let step = 0; step < 60_000; step++) sweep.step(NOW + 50);
    expect(live.every(([low, high], i) => table.tat(low, high) === NOW + 100 + i)).toBe(true);
    expect(table.size).toBe(50);
    expect(tables.bytes).toBeLessThan(3000);
  });

  test('gives memory back where there is one segment only', () => {
    const tables = tablesOf({ A: hashes(2000, 10) }, NOW + 1, NOW);
    tables.find('A')!.put(1, 1, NOW + 100, NOW);
    expect(tables.bytes).toBeGreaterThan(60_000);
    const sweep = new Sweep(tables, new Slots());
    for (let step = 0; step < 4000; step++) sweep.step(NOW + 1);
    expect(tables.bytes).toBe(EMPTY_BYTES);
  });

  test('gives memory back where only one half of the hashes has passed', () => {
    const tables = tablesOf({ A: hashes(40_000, 8) }, NOW + 1, NOW);
    const other = hashes(40_000, 9).map(([low, high]) => [low, high | (1 << 31)] as const);
    putAll(tables.find('A')!, other, NOW + 100, NOW);
    const full = tables.bytes;
    const sweep = new Sweep(tables, new Slots());
    for (let step = 0; step < 60_000; step++) sweep.step(NOW + 50);
    expect(tables.totals.size).toBe(40_000);
    expect(tables.bytes).toBeLessThan(full);
    expect(tables.bytes).toBeLessThan(40_000 * 54);
  });

  test('goes from the table of one limit to the next, and drops those that have become empty', () => {
    const tables = tablesOf({ A: hashes(3000, 1), B: hashes(10, 2), C: hashes(3000, 3), D: [] }, NOW + 1, NOW);
    putAll(tables.find('B')!, hashes(10, 4), NOW + 100, NOW);
    const sweep = new Sweep(tables, new Slots());
    for (let step = 0; step < 6000; step++) sweep.step(NOW + 1);
    expect(tables.all.map(({ limit, size }) => [limit, size])).toEqual([['B', 10]]);
    expect(tables.find('A')).toBeUndefined();
    expect(tables.totals).toEqual({ size: 10, swept: 6010, evicted: 0 });
    expect(tables.largest()).toBe(tables.find('B'));
  });

  test.each([1, 2, 50, 500])(
    'keeps the tables of %i limits in turn, although each bucket is full again at its next request',
    (limits) => {
      const tables = new LimitTables();
      const sweep = new Sweep(tables, new Slots());
      let created = 0;
      for (let step = 0; step < 10_000; step++) {
        sweep.step(NOW + step);
        const limit = `${step % limits}`;
        if (tables.find(limit) === undefined) {
          created++;
          sweep.hasten();
          tables.create(limit);
        }
        tables.find(limit)!.put(1, 1, NOW + step + 1, NOW + step);
      }
      expect(created).toBe(limits);
      expect(tables.totals.swept).toBeGreaterThan(600);
    },
  );

  test('drops a table that remains empty after a thousand operations', () => {
    const tables = tablesOf({ Gone: hashes(10, 11), Used: [] }, NOW + 1, NOW);
    const sweep = new Sweep(tables, new Slots());
    const use = (operations: number) => {
      for (let i = 0; i < operations; i++) {
        sweep.step(NOW + 1);
        tables.find('Used')!.put(1, 1, NOW, NOW);
      }
    };
    use(1000);
    expect(tables.all.map(({ limit, size }) => [limit, size])).toEqual([['Gone', 0], ['Used', 1]]); // prettier-ignore
    use(100);
    expect(tables.all.map(({ limit }) => limit)).toEqual(['Used']);
  });

  test('drops the tables of limits faster than they are created, even if each operation names another one', () => {
    const tables = new LimitTables();
    const sweep = new Sweep(tables, new Slots());
    let most = 0;
    for (let step = 0; step < 20_000; step++) {
      sweep.step(NOW + step);
      sweep.hasten();
      tables.create(`${step}`).put(1, 1, NOW + step + 100, NOW + step);
      most = Math.max(most, tables.all.length);
    }
    // 1,024, with those whose bucket is not full.
    expect(most).toBeLessThan(1200);
  });

  test('does nothing without a table', () => {
    const tables = new LimitTables();
    const sweep = new Sweep(tables, new Slots());
    for (let step = 0; step < 100; step++) sweep.step(NOW);
    expect(tables.totals).toEqual({ size: 0, swept: 0, evicted: 0 });
  });
});
