import { expect, test } from 'vitest';
import { taughtBy, type Teaching } from '../../src/index.ts';

/** The clock of the caller, far from that of every provider of the tables. */
export const NOW_MS = Date.UTC(2026, 10, 29, 12);

/** An answer, and what it teaches: `requests 5 for 30000`, `denied for 2000`; nothing is ''. */
export interface Cell {
  readonly where: string;
  readonly status?: number;
  readonly fields: Readonly<Record<string, string | readonly string[]>>;
  readonly teaches: string;
}

/** A test for each cell of a table. */
export function testCells(cells: readonly Cell[]): void {
  test.each(cells)('$where: $fields teaches "$teaches"', ({ status = 200, fields, teaches }) => {
    const taught = taughtBy(status, { get: (name) => fields[name] }, NOW_MS);
    expect(textOf(taught)).toBe(teaches);
  });
}

function textOf({ lessons, denied }: Teaching): string {
  const texts = lessons.map(({ of, unit, remaining, waitMs }) => {
    const usual = of.endsWith('tokens') ? 'tokens' : 'requests';
    const name = unit === usual ? of : `${of} (${unit})`;
    return `${name} ${remaining}${waitMs === undefined ? '' : ` for ${waitMs}`}`;
  });
  if (denied !== undefined) texts.push(denied.waitMs === undefined ? 'denied' : `denied for ${denied.waitMs}`);
  return texts.join(', ');
}
