import { Problems } from '../src/nodes/problems.ts';
import { shownPosition } from '../src/nodes/position.ts';
import { limitRows } from '../src/shape/limits-shape.ts';
import { overrideRows, type OverrideRow } from '../src/shape/overrides-shape.ts';
import { rootOf } from '../src/sources/parse.ts';

/** Parses a text. Returns its rows, its ids with their positions, its problems, and how many there are. */
export function parsed(text: string | Uint8Array, part: 'defaults' | 'overrides' = 'overrides') {
  const problems = new Problems();
  const reading = rootOf({ bytes: typeof text === 'string' ? new TextEncoder().encode(text) : text }, problems);
  let turns = 0;
  let step = reading.next();
  for (; step.done !== true; step = reading.next()) turns++;
  const rows: OverrideRow[] = [];
  if (part === 'overrides') rows.push(...overrideRows(step.value, problems));
  else for (const row of limitRows(step.value, problems)) if (row.name === '') throw new Error('It has no name.');
  const ids = rows.flatMap((row) => row.ids.map((id, i) => `${id} ${shownPosition(row.places[i] ?? 'nowhere')}`));
  const { list, count } = problems;
  return { rows, ids, problems: list.map(({ at, message }) => `${shownPosition(at)} ${message}`), count, turns };
}

export const override = (ids: string): string => `- A:\n    unlimited: true\n    ids:\n${ids}`;

export const list = (count: number): string => Array.from({ length: count }, (_, i) => `      - ${i}\n`).join('');
