import { isAlias, isMap, isScalar, isSeq, type LineCounter, type Node as LibraryNode } from 'yaml';
import { shownName } from '@sluice/core/kit';
import type { Entry, Node } from '../nodes/node.ts';
import { positionAt, type Position } from '../nodes/position.ts';
import type { Problems } from '../nodes/problems.ts';

const MAX_ALIASES = 100;
const MAX_REPEATED = 10_000;

interface Anchored {
  readonly node: Node;
  /** The number of values in it, including those that its aliases repeat. */
  readonly size: number;
}

/**
 * Converts the nodes of the YAML library, and replaces aliases by the nodes of their anchors, in the order of the text: an
 * alias refers to the last anchor of its name before it. The number of repeated values is bounded, so that a few lines can't
 * expand to a billion values.
 */
export class YamlNodes {
  readonly #lines: LineCounter;
  readonly #problems: Problems;
  readonly #anchored = new Map<string, Anchored>();
  /** The number of values so far, including repeated ones. */
  #values = 0;
  #aliases = 0;
  #repeated = 0;

  constructor(lines: LineCounter, problems: Problems) {
    this.#lines = lines;
    this.#problems = problems;
  }

  /** Finds line and column of an offset, which counts UTF-16 code units. */
  positionOf(offset: number): Position {
    const { line, col } = this.#lines.linePos(offset);
    return positionAt(line, col);
  }

  nodeOf(source: LibraryNode): Node {
    const at = this.positionOf(source.range![0]);
    if (isAlias(source)) return this.#named(source.source, at);
    if (source.tag !== undefined) this.#rejectTag(at, source.tag);
    const before = this.#values++;
    const node = this.#converted(source, at);
    const { anchor } = source;
    if (anchor !== undefined) this.#anchored.set(anchor, { node, size: this.#values - before });
    return node;
  }

  #converted(source: LibraryNode, at: Position): Node {
    if (isScalar(source)) return { kind: 'scalar', value: source.value, text: source.source!, at };
    if (isSeq(source)) return { kind: 'list', items: source.items.map((item) => this.nodeOf(item as LibraryNode)), at };
    const entries = isMap(source) ? source.items : [];
    return {
      kind: 'mapping',
      entries: entries.map(({ key, value }) => this.#entryOf(key as LibraryNode, value as LibraryNode | null)),
      at,
    };
  }

  // A key of a flow mapping may have no value: `{ key }`.
  #entryOf(source: LibraryNode, value: LibraryNode | null): Entry {
    const key = this.nodeOf(source);
    return { key, value: value === null ? emptyNode(key.at) : this.nodeOf(value) };
  }

  #named(name: string, at: Position): Node {
    const anchored = this.#anchored.get(name);
    const { node, size } = anchored ?? { node: emptyNode(at), size: 1 };
    this.#values += size;
    this.#repeated += size;
    const complaint = this.#complaint(shownName(name), anchored);
    if (complaint === undefined) return node;
    this.#problems.addUnreadable(at, complaint);
    return emptyNode(at);
  }

  #complaint(name: string, anchored: Anchored | undefined): string | undefined {
    if (++this.#aliases > MAX_ALIASES) return `A file may have at most ${MAX_ALIASES} aliases. Write the values out.`;
    if (anchored === undefined) return `The alias *${name} must name an anchor before it, but there is no &${name}.`;
    if (this.#repeated <= MAX_REPEATED) return undefined;
    return `Aliases may repeat at most ${MAX_REPEATED} values, and with *${name} they repeat more. Write the values out.`;
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
function emptyNode(at: Position): Node {
  return { kind: 'scalar', value: null, text: '', at };
}
