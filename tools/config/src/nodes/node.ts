// The room nodes: the types of values, positions and problems that the other rooms pass on.
import { shown, shownName } from '@sluice/core/kit';
import { SluiceError } from '@sluice/core';
import type { Position } from './position.ts';

/** A value of a text or of data, with its position. */
export type Node = Scalar | List | Mapping;

/** A string, a number, a boolean, null, or any other value that data may contain. */
export interface Scalar {
  readonly kind: 'scalar';
  readonly value: unknown;
  /** The value as written in the file, such as `012345`. `undefined` for data that has no exact text, such as 1.5. */
  readonly text: string | undefined;
  readonly at: Position;
}

/** A sequence. Iterate it only once: the items may be created during the iteration. */
interface List {
  readonly kind: 'list';
  readonly items: Iterable<Node>;
  readonly at: Position;
}

/** A mapping, in the order of the file. A key may occur twice. */
export interface Mapping {
  readonly kind: 'mapping';
  readonly entries: Iterable<Entry>;
  readonly at: Position;
}

/** A key and its value. */
export interface Entry {
  readonly key: Node;
  readonly value: Node;
}

/** Formats a value for a message. */
export function shownNode(node: Node): string {
  if (node.kind === 'list') return 'a list';
  if (node.kind === 'mapping') return 'a mapping';
  if (node.value === null) return node.text || 'empty';
  return typeof node.value === 'string'
    ? shown(node.value)
    : node.text === undefined
      ? shown(node.value)
      : shownName(node.text);
}

/** The error for a field with a wrong value. */
export function wrongNode(option: string, demand: string, node: Node, remedy: string): SluiceError {
  return new SluiceError('ERR_OPTION', mustBe(demand, node, remedy), { path: option });
}

/** The message for a field with a wrong value. */
export function wrongValue(option: string, demand: string, node: Node, remedy: string): string {
  return wrongNode(option, demand, node, remedy).message;
}

/** The message for a whole file that is wrong. */
export function wrongFile(file: string, demand: string, node: Node, remedy: string): string {
  return `${file} ${mustBe(demand, node, remedy)}`;
}

function mustBe(demand: string, node: Node, remedy: string): string {
  return `must be ${demand}, but was ${shownNode(node)}. ${remedy}`;
}

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
