/**
 * Numbers from 0 up to, not including, 1: the same in each run (Mulberry32).
 *
 * @param {number} seed
 * @returns {() => number}
 */
function seededRandom(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/**
 * In what order ids are visited: permutation after permutation, each another, all the same in each run. A Map keeps its
 * entries in the order in which they came; visits in that order would find the next one in the cache already.
 */
export class VisitOrder {
  #permutation;
  #random;
  #done = 0;

  /** @param {number} ids How many there are. */
  constructor(ids) {
    this.#permutation = Uint32Array.from({ length: ids }, (_, n) => n);
    this.#random = seededRandom(ids);
  }

  /**
   * @param {number} visits
   * @returns {Uint32Array} the number of an id for each of the next visits
   */
  next(visits) {
    return Uint32Array.from({ length: visits }, () => this.#one());
  }

  #one() {
    const place = this.#done++ % this.#permutation.length;
    if (place === 0) shuffle(this.#permutation, this.#random);
    return /** @type {number} */ (this.#permutation[place]);
  }
}

/** Ids by Zipf's law: the n-th is visited 1/n times as often as the first. The same in each run. */
export class ZipfOrder {
  #sums;
  #random;

  /** @param {number} ids How many there are. */
  constructor(ids) {
    this.#random = seededRandom(ids);
    this.#sums = new Float64Array(ids);
    let sum = 0;
    for (let n = 0; n < ids; n++) this.#sums[n] = sum += 1 / (n + 1);
  }

  /**
   * @param {number} visits
   * @returns {Uint32Array} the number of an id for each of the next visits
   */
  next(visits) {
    return Uint32Array.from({ length: visits }, () => this.#one());
  }

  #one() {
    const sums = this.#sums;
    const place = this.#random() * Number(sums.at(-1));
    let [low, high] = [0, sums.length - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (Number(sums[middle]) < place) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/**
 * @param {Uint32Array} numbers
 * @param {() => number} random
 */
function shuffle(numbers, random) {
  for (let i = numbers.length - 1; i > 0; i--) {
    const j = Math.floor(random() * (i + 1));
    const moved = /** @type {number} */ (numbers[i]);
    numbers[i] = /** @type {number} */ (numbers[j]);
    numbers[j] = moved;
  }
}

/** How the n-th id of each kind is written; all differ for n below 2^24. */
/** @satisfies {Readonly<Record<string, (n: number) => string>>} */
export const idsOf = {
  'account ids': (n) => String(10_000_000 + n),
  IPv4: (n) => `10.${(n >> 16) & 255}.${(n >> 8) & 255}.${n & 255}`,
  IPv6: (n) => `2001:db8:${(n >> 16).toString(16)}:${(n & 0xffff).toString(16)}::1`,
};

/**
 * The n-th id as a request brings it: a string of its own in one piece. (One that was put together from others is a tree
 * of them in V8, and a Map that keeps it keeps the tree.)
 *
 * @param {keyof typeof idsOf} kind
 * @param {number} n
 */
export function freshId(kind, n) {
  return Buffer.from(idsOf[kind](n), 'latin1').toString('latin1');
}

const LENGTH = 8;

/** Account ids as requests bring them, made faster: a new string each time, that nobody has hashed or compared yet. */
export class FreshIds {
  #text;

  /** @param {number} count */
  constructor(count) {
    const all = Array.from({ length: count }, (_, n) => idsOf['account ids'](n));
    this.#text = Buffer.from(all.join(''), 'latin1');
  }

  /**
   * @param {number} n
   * @returns {string}
   */
  at(n) {
    return this.#text.toString('latin1', n * LENGTH, (n + 1) * LENGTH);
  }
}
