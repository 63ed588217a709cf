import { describe, expect, it } from 'vitest';
import { ClientTable } from '../../src/replay/keys/client-table.ts';

const idOf = (i: number): string => `10.${i >> 16}.${(i >> 8) & 255}.${i & 255}`;

/** All figures of a client. */
function figuresOf(table: ClientTable, row: number): (number | undefined)[] {
  return columnsOf(table).map((column) => column[row]);
}

function columnsOf({ requests, denied, level, need }: ClientTable): (Uint32Array | Float64Array)[] {
  return [requests, ...denied, ...level, ...need];
}

/** Counts requests: client i has i % 7 + 1 of them, and that number in all its figures. */
function counted(table: ClientTable, clients: number): void {
  for (let i = 0; i < clients; i++) {
    for (let request = 0; request <= i % 7; request++) {
      const { row } = table.placeOf(idOf(i));
      if (row === -1) continue;
      for (const column of columnsOf(table)) column[row] = request + 1;
    }
  }
}

describe('ClientTable', () => {
  it('has the figures of each client after it has grown several times', () => {
    const table = new ClientTable(100_000, 2);
    counted(table, 5000);
    expect(table).toMatchObject({ size: 5000, sampling: 1 });
    expect([...table.used()]).toHaveLength(5000);
    const rows = new Set<number>();
    for (let i = 0; i < 5000; i++) {
      const { row } = table.placeOf(idOf(i));
      rows.add(row);
      expect(figuresOf(table, row)).toEqual(Array.from({ length: 7 }, () => (i % 7) + 1));
    }
    expect(rows.size).toBe(5000);
  });

  it('keeps a sample with complete figures when there are more clients than rows', () => {
    const table = new ClientTable(1000, 2);
    counted(table, 20_000);
    expect(table.size).toBeLessThanOrEqual(1000);
    expect(table.size * table.sampling).toBeGreaterThan(14_000);
    expect(table.size * table.sampling).toBeLessThan(28_000);
    let kept = 0;
    for (let i = 0; i < 20_000; i++) {
      const { row, hash } = table.placeOf(idOf(i));
      expect(table.rowOf({ hash, row: 7 })).toBe(row === -1 ? -1 : 7);
      if (row === -1) continue;
      kept++;
      expect(figuresOf(table, row)).toEqual(Array.from({ length: 7 }, () => (i % 7) + 1));
    }
    expect(kept).toBe(table.size);
    expect([...table.used()]).toHaveLength(kept);
  });

  it('gives the row of a client that left the sample to another one without its figures', () => {
    const table = new ClientTable(8, 1);
    for (let i = 0; i < 2000; i++) {
      const { row } = table.placeOf(idOf(i));
      if (row === -1) continue;
      expect([...figuresOf(table, row), table.overridden[row]]).toEqual([0, 0, 0, 0, 0]);
      for (const column of [...columnsOf(table), table.overridden]) column[row] = 1;
    }
    expect(table.sampling).toBeGreaterThan(8);
  });
});
