import { shown, shownName } from '@sluice/core/kit';
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

/** The message for a field with a wrong value. */
export function wrongValue(option: string, demand: string, node: Node, remedy: string): string {
  return wrongFile(`\`${option}\``, demand, node, remedy);
}

/** The message for a whole file that is wrong. */
export function wrongFile(file: string, demand: string, node: Node, remedy: string): string {
  return `${file} must be ${demand}, but was ${shownNode(node)}. ${remedy}`;
}
