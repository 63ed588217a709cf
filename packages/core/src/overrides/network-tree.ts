import { addressBits, type AddressBits } from '../ids/address-bits.ts';
import type { Cidr } from '../ids/cidr.ts';

const IPV4_ROOT = 0;
const IPV6_ROOT = 1;

/**
 * Values by network: an address has the value of the longest prefix that holds it. A binary tree of prefix bits, one
 * node a bit, so a look-up takes at most 32 or 128 steps however many networks there are, and adding one never rebuilds.
 */
export class NetworkTree<Value> {
  /** The children of node n at 2n and 2n + 1; 0 where there is none, since no root is a child. */
  #children = new Int32Array(64);
  readonly #values: (Value | undefined)[] = [undefined, undefined];

  /** The value of exactly this network. */
  get(network: Cidr): Value | undefined {
    const node = this.#node(network, (parent, bit) => this.#children[2 * parent + bit]!);
    return node === undefined ? undefined : this.#values[node];
  }

  /** Gives a network a value. */
  set(network: Cidr, value: Value): void {
    const node = this.#node(network, (parent, bit) => this.#children[2 * parent + bit] || this.#grow(parent, bit));
    this.#values[node!] = value;
  }

  /** The value of the smallest network that holds the address, or the range of addresses, that an id names. */
  lookUp(id: string): Value | undefined {
    const { family, words } = addressBits(id);
    let node = rootOf(family);
    let found = this.#values[node];
    for (let depth = 0; depth < (family === 4 ? 32 : 128); depth++) {
      node = this.#children[2 * node + bitAt(words, depth)]!;
      if (node === 0) break;
      found = this.#values[node] ?? found;
    }
    return found;
  }

  /** Walks to the node of a network; `undefined` where a step leads nowhere. */
  #node({ text, family, prefixLength }: Cidr, step: (parent: number, bit: 0 | 1) => number): number | undefined {
    const { words } = addressBits(text);
    let node = rootOf(family);
    for (let depth = 0; depth < prefixLength; depth++) {
      node = step(node, bitAt(words, depth));
      if (node === 0) return undefined;
    }
    return node;
  }

  #grow(parent: number, bit: 0 | 1): number {
    const node = this.#values.push(undefined) - 1;
    if (2 * node + 2 > this.#children.length) {
      const larger = new Int32Array(2 * this.#children.length);
      larger.set(this.#children);
      this.#children = larger;
    }
    this.#children[2 * parent + bit] = node;
    return node;
  }
}

function rootOf(family: 4 | 6): number {
  return family === 4 ? IPV4_ROOT : IPV6_ROOT;
}

function bitAt(words: AddressBits['words'], depth: number): 0 | 1 {
  return ((words[depth >>> 5]! >>> (31 - (depth & 31))) & 1) as 0 | 1;
}
