import { shownName } from '@sluice/core/kit';
import type { Problems } from '../nodes/problems.ts';
import type { Position } from '../nodes/position.ts';
import type { YamlEntry, YamlNode } from './composed.ts';

const MAX_ALIASES = 100;
const MAX_REPEATED = 10_000;

interface Anchored {
  readonly node: YamlNode;
  /** The number of values in it, including those that its aliases repeat. */
  readonly size: number;
}

/**
 * Replaces aliases by the nodes of their anchors, in the order of the text. An alias refers to the last anchor of its
 * name before it. The number of repeated values is bounded, so that a few lines can't expand to a billion values.
 */
export class Aliases {
  /** Whether the text has anchors or aliases. If not, nodes are not walked, which may be a hundred thousand. */
  found = false;
  readonly #problems: Problems;
  readonly #anchored = new Map<string, Anchored>();
  #count = 0;
  #repeated = 0;

  constructor(problems: Problems) {
    this.#problems = problems;
  }

  /** Returns the node with all aliases replaced. */
  resolved(node: YamlNode): YamlNode {
    return this.found ? this.#resolved(node).node : node;
  }

  #resolved(node: YamlNode): Anchored {
    const resolved = node.kind === 'alias' ? this.#named(node.name, node.at) : { node, size: this.#walk(node) };
    if (node.anchor !== undefined) this.#anchored.set(node.anchor, resolved);
    return resolved;
  }

  #walk(node: YamlNode): number {
    if (node.kind === 'list') return this.#walkItems(node.items);
    return node.kind === 'mapping' ? this.#walkEntries(node.entries) : 1;
  }

  #walkItems(items: YamlNode[]): number {
    let size = 1;
    for (const [i, item] of items.entries()) {
      const resolved = this.#resolved(item);
      items[i] = resolved.node;
      size += resolved.size;
    }
    return size;
  }

  #walkEntries(entries: YamlEntry[]): number {
    let size = 1;
    for (const entry of entries) {
      const [key, value] = [this.#resolved(entry.key), this.#resolved(entry.value)];
      entry.key = key.node;
      entry.value = value.node;
      size += key.size + value.size;
    }
    return size;
  }

  #named(name: string, at: Position): Anchored {
    const anchored = this.#anchored.get(name);
    this.#repeated += anchored?.size ?? 1;
    const remedy = this.#complaint(shownName(name), anchored);
    if (remedy === undefined) return anchored!;
    this.#problems.addUnreadable(at, remedy);
    return { node: { kind: 'scalar', value: null, text: '', at, anchor: undefined }, size: 1 };
  }

  #complaint(name: string, anchored: Anchored | undefined): string | undefined {
    if (++this.#count > MAX_ALIASES) return `A file may have at most ${MAX_ALIASES} aliases. Write the values out.`;
    if (anchored === undefined) return `The alias *${name} must name an anchor before it, but there is no &${name}.`;
    if (this.#repeated <= MAX_REPEATED) return undefined;
    return `Aliases may repeat at most ${MAX_REPEATED} values, and with *${name} they repeat more. Write the values out.`;
  }
}
