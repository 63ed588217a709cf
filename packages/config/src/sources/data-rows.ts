import { createHash } from 'node:crypto';
import { dataNode } from '../nodes/data-node.ts';
import type { Problems } from '../nodes/problems.ts';
import { rowsOf, type Part, type Rows } from './parse.ts';

/** Validates parsed data, row by row. Returns a hash of the rows. */
export async function* rowsOfData<P extends Part>(
  { part, value }: { readonly part: P; readonly value: unknown },
  problems: Problems,
): AsyncGenerator<Rows[P], string> {
  const hash = createHash('sha256');
  for (const row of rowsOf(part, reading(value), problems)) {
    hash.update(JSON.stringify(row));
    yield row;
  }
  return hash.digest('hex');
}

// oxlint-disable-next-line require-yield -- Data has no early items, only a root.
function* reading(value: unknown): Generator<never, ReturnType<typeof dataNode>> {
  return dataNode(value);
}
