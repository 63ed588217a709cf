import { shownName } from '@sluice/core/kit';
import type { Entry, Node, Scalar } from './node.ts';

/** Returns the node of parsed data. The items of lists and mappings are created lazily, while a caller iterates. */
export function dataNode(value: unknown, path = ''): Node {
  if (Array.isArray(value)) return { kind: 'list', items: itemsOf(value, path), at: path };
  if (isRecord(value)) return { kind: 'mapping', entries: entriesOf(value, path), at: path };
  return { kind: 'scalar', value: value ?? null, text: textOf(value), at: path } satisfies Scalar;
}

function* itemsOf(values: readonly unknown[], path: string): Iterable<Node> {
  for (const [i, value] of values.entries()) yield dataNode(value, `${path}[${i}]`);
}

function* entriesOf(record: Readonly<Record<string, unknown>>, path: string): Iterable<Entry> {
  for (const [name, value] of Object.entries(record)) {
    if (value === undefined) continue;
    const at = pathOf(path, name);
    yield { key: { kind: 'scalar', value: name, text: name, at }, value: dataNode(value, at) };
  }
}

function pathOf(path: string, name: string): string {
  if (!/^[\w-]{1,64}$/.test(name)) return `${path}[${JSON.stringify(shownName(name))}]`;
  return path === '' ? name : `${path}.${name}`;
}

// A number above 2^53, or with a fraction, may have lost digits. Such an id is only exact as text.
function textOf(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  if (typeof value === 'bigint' || Number.isSafeInteger(value)) return String(value);
  return undefined;
}

/** Whether a value is a plain object, also one of another realm; not a Date, a Map or another class. */
function isRecord(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}
