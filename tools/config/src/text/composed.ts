import {
  isAlias,
  isMap,
  isScalar,
  isSeq,
  type Node as LibraryNode,
  type Scalar as LibraryScalar,
  type YAMLSeq,
} from 'yaml';
import { shownName } from '@sluice/core/kit';
import type { Problems } from '../nodes/problems.ts';
import type { Scalar } from '../nodes/node.ts';
import type { LineIndex, Position } from '../nodes/position.ts';
import type { Sequence } from './slice.ts';

/** A value of a YAML text. */
export type YamlNode = (Scalar | YamlList | YamlMapping | YamlAlias) & { readonly anchor: string | undefined };

interface YamlList {
  readonly kind: 'list';
  readonly items: YamlNode[];
  readonly at: Position;
}

interface YamlMapping {
  readonly kind: 'mapping';
  readonly entries: YamlEntry[];
  readonly at: Position;
}

export interface YamlEntry {
  key: YamlNode;
  value: YamlNode;
}

/** An alias, which `Aliases` later replaces by the node of its anchor. */
interface YamlAlias {
  readonly kind: 'alias';
  readonly name: string;
  readonly at: Position;
}

/** Converts the nodes of the YAML library into {@link YamlNode}, which needs much less memory. */
export class Composed {
  readonly #lines: LineIndex;
  readonly #problems: Problems;
  readonly #early = new Map<unknown, YamlNode[]>();
  /** Whether there was an anchor or an alias. */
  foundAnchor = false;

  constructor(lines: LineIndex, problems: Problems) {
    this.#lines = lines;
    this.#problems = problems;
  }

  /** Stores items of a sequence that were composed before the end of the sequence was parsed. */
  keepEarly(sequence: Sequence, items: readonly YamlNode[]): void {
    const early = this.#early.get(sequence);
    if (early === undefined) this.#early.set(sequence, [...items]);
    else early.push(...items);
  }

  /** Converts a node of the library. */
  nodeOf(source: LibraryNode): YamlNode {
    const at = this.#lines.positionOf(source.range![0]);
    if (source.tag !== undefined) this.#rejectTag(at, source.tag);
    const anchor = isAlias(source) ? undefined : source.anchor;
    if (anchor !== undefined || isAlias(source)) this.foundAnchor = true;
    if (isScalar(source)) return scalarOf(source, at, anchor);
    if (isSeq(source)) return { kind: 'list', items: this.#itemsOf(source), at, anchor };
    if (isMap(source)) {
      const entries = source.items.map(({ key, value }) =>
        this.#entryOf(key as LibraryNode, value as LibraryNode | null),
      );
      return { kind: 'mapping', entries, at, anchor };
    }
    return { kind: 'alias', name: (source as { source: string }).source, at, anchor };
  }

  #itemsOf(source: YAMLSeq): YamlNode[] {
    const early = this.#early.get(source.srcToken);
    const items = source.items.map((item) => this.nodeOf(item as LibraryNode));
    if (early === undefined) return items;
    // In a flow sequence the first item is a placeholder for those that were taken out before.
    return [...early, ...(source.flow === true ? items.slice(1) : items)];
  }

  // A key of a flow mapping may have no value: `{ key }`.
  #entryOf(key: LibraryNode, value: LibraryNode | null): YamlEntry {
    const keyNode = this.nodeOf(key);
    return { key: keyNode, value: value === null ? emptyNode(keyNode.at) : this.nodeOf(value) };
  }

  #rejectTag(at: Position, tag: string): void {
    const written = shownName(tag.replace('tag:yaml.org,2002:', '!!'));
    this.#problems.addUnreadable(
      at,
      `Tags such as ${written} are not supported. Remove it; to make a value text, quote it.`,
    );
  }
}

/** The node of a missing value. */
function emptyNode(at: Position): YamlNode {
  return { kind: 'scalar', value: null, text: '', at, anchor: undefined };
}

function scalarOf({ value, source }: LibraryScalar, at: Position, anchor: string | undefined): YamlNode {
  return { kind: 'scalar', value, text: source!, at, anchor };
}
