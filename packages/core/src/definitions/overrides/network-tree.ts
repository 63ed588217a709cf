import { addressBits } from '../../ids/address-bits.ts';
import type { Cidr } from '../../ids/cidr.ts';

const IPV4_ROOT = 0;
const IPV6_ROOT = 1;
const WORDS = 4;

/**
 * Maps networks to values: an address has the value of the longest prefix that contains it. A radix tree: a binary tree
 * of prefixes without nodes that have one child and no value. It has at most two nodes for each network, and adding one
 * never rebuilds it.
 */
export class NetworkTree<Value> {
  /** Four words for each node: its prefix, followed by arbitrary bits. */
  #words = new Uint32Array(WORDS * 16);
  /**
   * Two children for each node: the prefix extended by 0, and by 1. 0 means no child, since a root is never a child.
   */
  #children = new Int32Array(2 * 16);
  readonly #prefixLengths: number[] = [0, 0];
  readonly #values: (Value | undefined)[] = [undefined, undefined];

  /** Returns the value of exactly this network. */
  get(network: Cidr): Value | undefined {
    const { words } = addressBits(network.text);
    const node = this.#deepest(rootOf(network.family), words, network.prefixLength);
    return this.#prefixLengths[node] === network.prefixLength ? this.#values[node] : undefined;
  }

  /** Sets the value of a network. */
  set({ text, family, prefixLength }: Cidr, value: Value): void {
    const { words } = addressBits(text);
    const holder = this.#deepest(rootOf(family), words, prefixLength);
    const node = this.#prefixLengths[holder] === prefixLength ? holder : this.#insert(holder, words, prefixLength);
    this.#values[node] = value;
  }

  /** Returns the value of the smallest network that contains an id, which is an address or a range of addresses. */
  lookUp(id: string): Value | undefined {
    const { family, words } = addressBits(id);
    return this.#smallest(rootOf(family), words, family === 4 ? 32 : 128);
  }

  /**
   * Returns the value of each network beside the value that it has in another tree: that of the smallest network there
   * that contains it.
   */
  *beside(other: NetworkTree<Value> | undefined): Generator<readonly [value: Value, there: Value | undefined]> {
    for (const root of [IPV4_ROOT, IPV6_ROOT]) {
      const nodes = [root];
      for (let node = nodes.pop(); node !== undefined; node = nodes.pop()) {
        const value = this.#values[node];
        const words = this.#words.subarray(WORDS * node, WORDS * (node + 1));
        const there = other === undefined ? undefined : other.#smallest(root, words, this.#prefixLengths[node]!);
        if (value !== undefined) yield [value, there];
        nodes.push(...this.#children.subarray(2 * node, 2 * node + 2).filter((child) => child !== 0));
      }
    }
  }

  /** Returns the value of the longest prefix of the first `bits` of `words` that has one. */
  #smallest(root: number, words: Uint32Array, bits: number): Value | undefined {
    let found = this.#values[root];
    for (let node = this.#next(root, words, bits); node !== 0; node = this.#next(node, words, bits)) {
      found = this.#values[node] ?? found;
    }
    return found;
  }

  /** Returns the node of the longest prefix of the first `bits` of `words`. */
  #deepest(root: number, words: Uint32Array, bits: number): number {
    let node = root;
    for (let next = node; ; node = next) {
      next = this.#next(node, words, bits);
      if (next === 0) return node;
    }
  }

  /** Returns the child of a node whose prefix matches the first `bits` of `words`, or 0. */
  #next(node: number, words: Uint32Array, bits: number): number {
    const prefixLength = this.#prefixLengths[node]!;
    if (prefixLength >= bits) return 0;
    const child = this.#children[2 * node + bitAt(words, 0, prefixLength)]!;
    const childLength = this.#prefixLengths[child]!;
    return child !== 0 && childLength <= bits && this.#sharedBits(child, words) >= childLength ? child : 0;
  }

  /** Inserts a new node below its holder: as a leaf, above the existing child, or beside it. */
  #insert(holder: number, words: Uint32Array, prefixLength: number): number {
    const place = 2 * holder + bitAt(words, 0, this.#prefixLengths[holder]!);
    const child = this.#children[place]!;
    const node = this.#grow(words, prefixLength);
    if (child === 0) {
      this.#children[place] = node;
      return node;
    }
    const shared = Math.min(this.#sharedBits(child, words), this.#prefixLengths[child]!, prefixLength);
    const fork = shared === prefixLength ? node : this.#grow(words, shared);
    this.#children[place] = fork;
    this.#children[2 * fork + bitAt(this.#words, WORDS * child, shared)] = child;
    if (fork !== node) this.#children[2 * fork + bitAt(words, 0, shared)] = node;
    return node;
  }

  #grow(words: Uint32Array, prefixLength: number): number {
    const node = this.#values.push(undefined) - 1;
    this.#prefixLengths.push(prefixLength);
    if (2 * node >= this.#children.length) {
      this.#children = doubled(this.#children, new Int32Array(2 * this.#children.length));
      this.#words = doubled(this.#words, new Uint32Array(2 * this.#words.length));
    }
    this.#words.set(words, WORDS * node);
    return node;
  }

  /** Returns how many leading bits a node's words have in common with others. */
  #sharedBits(node: number, words: Uint32Array): number {
    for (let word = 0; word < WORDS; word++) {
      const different = this.#words[WORDS * node + word]! ^ words[word]!;
      if (different !== 0) return 32 * word + Math.clz32(different);
    }
    return 32 * WORDS;
  }
}

function rootOf(family: 4 | 6): number {
  return family === 4 ? IPV4_ROOT : IPV6_ROOT;
}

function bitAt(words: Uint32Array, offset: number, bit: number): number {
  return (words[offset + (bit >>> 5)]! >>> (31 - (bit & 31))) & 1;
}

function doubled<Numbers extends Int32Array | Uint32Array>(numbers: Numbers, larger: Numbers): Numbers {
  larger.set(numbers);
  return larger;
}
