import { bytesOf } from '../spellings/bytes.ts';
import type { TextKind } from '../spellings/text-kind.ts';
import { PatternBranches } from './pattern-branches.ts';

/** An entry of a descriptor, as Envoy sends it. */
export interface DescriptorEntry {
  readonly key: string;
  /** May be empty. */
  readonly value: string;
}

/** An entry of a descriptor: its key, and the value that it must have. */
export interface EntryPattern {
  readonly key: string;
  /** Undefined for any value. Each `*` in it stands for any text. */
  readonly value: string | undefined;
  /** The kind of all values of the key in one tree. */
  readonly kind: TextKind;
}

/**
 * Finds what applies to a descriptor. Each entry chooses a branch by itself: that of its value, otherwise the first with
 * wildcards that it fits, otherwise that of the key with any value. A branch that leads nowhere is not left again, as in Envoy's own
 * service. A value that servers may understand in several ways chooses a branch for each.
 */
export class DescriptorTree<Leaf> {
  readonly #root = new TreeNode<Leaf>();

  /**
   * Adds a leaf.
   *
   * @returns The leaf that already has this pattern; undefined if the new one was added.
   */
  add(pattern: readonly EntryPattern[], leaf: Leaf): Leaf | undefined {
    let node = this.#root;
    for (const entry of pattern) node = node.branch(entry);
    if (node.leaf !== undefined) return node.leaf;
    node.leaf = leaf;
    return undefined;
  }

  /**
   * Returns the leaves of a descriptor, at least one: undefined if there is none for exactly these entries, or for one of
   * the ways in which they may be understood.
   *
   * @param onUnknown - Called if it may be understood in more ways than are known.
   */
  find(entries: readonly DescriptorEntry[], onUnknown: () => void): readonly (Leaf | undefined)[] {
    let nodes: Nodes<Leaf> = [this.#root];
    for (const entry of entries) nodes = nextOf(nodes, entry, onUnknown);
    return nodes.length === 1 ? [nodes[0]?.leaf] : [...new Set(nodes.map((node) => node?.leaf))];
  }
}

/** All different; undefined for what leads nowhere. */
type Nodes<Leaf> = readonly (TreeNode<Leaf> | undefined)[];

function nextOf<Leaf>(nodes: Nodes<Leaf>, entry: DescriptorEntry, onUnknown: () => void): Nodes<Leaf> {
  const [only] = nodes;
  if (nodes.length === 1) return only === undefined ? nodes : only.next(entry, onUnknown);
  return [...new Set(nodes.flatMap((node) => (node === undefined ? NOWHERE : node.next(entry, onUnknown))))];
}

class TreeNode<Leaf> {
  leaf: Leaf | undefined;
  readonly #keys = new Map<string, PatternBranches<TreeNode<Leaf>>>();

  branch({ key, value, kind }: EntryPattern): TreeNode<Leaf> {
    const branches = this.#keys.get(key) ?? new PatternBranches<TreeNode<Leaf>>(kind);
    this.#keys.set(key, branches);
    if (value === undefined) return (branches.any ??= new TreeNode());
    return branches.branchOf(value, () => new TreeNode());
  }

  next({ key, value }: DescriptorEntry, onUnknown: () => void): Nodes<Leaf> {
    return this.#keys.get(key)?.ofAny(bytesOf(value), onUnknown) ?? NOWHERE;
  }
}

const NOWHERE: readonly undefined[] = [undefined];
