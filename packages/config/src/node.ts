import { shown, shownName } from '@sluice/core/limits';
import type { Place } from './place.ts';

/** A value with its place, whether it was read from text or given as data. */
export type Node = Scalar | List | Mapping;

/** Text, a number, a boolean, null, or anything else that data may hold. */
export interface Scalar {
  readonly kind: 'scalar';
  readonly value: unknown;
  /** As it is written: `012345` is a number, and this text. Of a number in data that has lost digits `undefined`. */
  readonly text: string | undefined;
  readonly at: Place;
}

/** A sequence. It may be made while it is walked, so it is walked once. */
interface List {
  readonly kind: 'list';
  readonly items: Iterable<Node>;
  readonly at: Place;
}

/** A mapping, in the order in which it is written, with keys that may stand twice. */
export interface Mapping {
  readonly kind: 'mapping';
  readonly entries: Iterable<Entry>;
  readonly at: Place;
}

/** A key and its value. */
export interface Entry {
  readonly key: Node;
  readonly value: Node;
}

/** A value as a message shows it. */
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

/** The sentence about a value that breaks a demand. */
export function refusal(option: string, demand: string, node: Node, remedy: string): string {
  return fileRefusal(`\`${option}\``, demand, node, remedy);
}

/** The same about a whole file. */
export function fileRefusal(file: string, demand: string, node: Node, remedy: string): string {
  return `${file} must be ${demand}, but was ${shownNode(node)}. ${remedy}`;
}
