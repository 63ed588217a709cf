/** An entry of a descriptor, as Envoy sends it. */
export interface DescriptorEntry {
  readonly key: string;
  /** May be empty. */
  readonly value: string;
}

/** An entry of a descriptor: its key, and the value that it must have. */
export interface EntryPattern {
  readonly key: string;
  /** Undefined for any value. With `isPrefix` the beginning of the value. */
  readonly value: string | undefined;
  readonly isPrefix: boolean;
}

/**
 * Finds what applies to a descriptor. Each entry chooses a branch by itself: that of its value, otherwise the first prefix
 * of it, otherwise that of the key with any value. A branch that leads nowhere is not left again, as in Envoy's own
 * service.
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

  /** Returns the leaf of a descriptor; undefined if there is none for exactly these entries. */
  find(entries: readonly DescriptorEntry[]): Leaf | undefined {
    let node: TreeNode<Leaf> | undefined = this.#root;
    for (let i = 0; i < entries.length && node !== undefined; i++) node = node.next(entries[i]!);
    return node?.leaf;
  }
}

class TreeNode<Leaf> {
  leaf: Leaf | undefined;
  readonly #keys = new Map<string, KeyBranches<Leaf>>();

  branch({ key, value, isPrefix }: EntryPattern): TreeNode<Leaf> {
    let branches = this.#keys.get(key);
    if (branches === undefined) this.#keys.set(key, (branches = { values: new Map(), prefixes: [], any: undefined }));
    if (value === undefined) return (branches.any ??= new TreeNode());
    if (!isPrefix) return known(branches.values, value);
    const same = branches.prefixes.find(([prefix]) => prefix === value);
    if (same !== undefined) return same[1];
    const node = new TreeNode<Leaf>();
    branches.prefixes.push([value, node]);
    return node;
  }

  next({ key, value }: DescriptorEntry): TreeNode<Leaf> | undefined {
    const branches = this.#keys.get(key);
    if (branches === undefined) return undefined;
    return (
      branches.values.get(value) ?? branches.prefixes.find(([prefix]) => value.startsWith(prefix))?.[1] ?? branches.any
    );
  }
}

interface KeyBranches<Leaf> {
  readonly values: Map<string, TreeNode<Leaf>>;
  /** In the order of the file. */
  readonly prefixes: [string, TreeNode<Leaf>][];
  any: TreeNode<Leaf> | undefined;
}

function known<Leaf>(nodes: Map<string, TreeNode<Leaf>>, value: string): TreeNode<Leaf> {
  let node = nodes.get(value);
  if (node === undefined) nodes.set(value, (node = new TreeNode()));
  return node;
}
