import { addressBits } from '../../ids/address-bits.ts';
import type { Cidr } from '../../ids/cidr.ts';
import type { Now } from './override-ends.ts';

/** The networks of one size, by their bits. */
interface Networks<Value> {
  readonly family: 4 | 6;
  readonly prefixLength: number;
  readonly values: Map<string | number, Value>;
}

/**
 * Maps networks to values: an address has the value of the smallest network that contains it. An address is looked up once
 * for each size of networks that there is.
 */
export class NetworkMap<Value extends object | string> {
  /** The smallest networks first. */
  readonly #sizes: Networks<Value>[] = [];

  /** Returns the value of exactly this network. */
  get({ text, family, prefixLength }: Cidr): Value | undefined {
    return this.#ofSize(family, prefixLength)?.values.get(firstBits(addressBits(text).words, prefixLength));
  }

  /** Sets the value of a network. */
  set({ text, family, prefixLength }: Cidr, value: Value): void {
    let networks = this.#ofSize(family, prefixLength);
    if (networks === undefined) {
      this.#sizes.push((networks = { family, prefixLength, values: new Map() }));
      this.#sizes.sort((one, other) => other.prefixLength - one.prefixLength);
    }
    networks.values.set(firstBits(addressBits(text).words, prefixLength), value);
  }

  /** Returns the value of the smallest network that contains an id, which is an address or a range of addresses. */
  lookUp(id: string, now: Now<Value>): Value | undefined {
    const { family, words } = addressBits(id);
    for (const size of this.#sizes) {
      const value = size.family === family && now(size.values.get(firstBits(words, size.prefixLength)));
      if (value) return value;
    }
    return undefined;
  }

  /** Returns the prefix length of the smallest network that contains an id. */
  prefixLengthFor(id: string, now: Now<Value>): number | undefined {
    const { family, words } = addressBits(id);
    return this.#sizes.find(
      (size) => size.family === family && now(size.values.get(firstBits(words, size.prefixLength))),
    )?.prefixLength;
  }

  #ofSize(family: 4 | 6, prefixLength: number): Networks<Value> | undefined {
    return this.#sizes.find((size) => size.family === family && size.prefixLength === prefixLength);
  }
}

/** The first bits of an address: a number if one word has them all. */
function firstBits(words: Uint32Array, count: number): string | number {
  if (count <= 32) return partOf(words[0]!, count);
  let text = '';
  for (let word = 0; 32 * word < count; word++) text += `${partOf(words[word]!, Math.min(32, count - 32 * word))},`;
  return text;
}

/** The first bits of a word. Shifting a word by 32 leaves it as it is. */
function partOf(word: number, count: number): number {
  return count === 0 ? 0 : word >>> (32 - count);
}
