// The clients of the market open: how often each of them asks.

/** Numbers from 0 to below 1 that a seed repeats: mulberry32. */
class Draws {
  #state;

  /** @param {number} seed */
  constructor(seed) {
    this.#state = seed >>> 0;
  }

  next() {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let t = this.#state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  }
}

/**
 * Clients of which a few ask much and most ask little, like a Zipf distribution: the client with the rank k has the
 * weight (k + 1)^-exponent, up to rounding.
 */
export class Clients {
  #draws;
  #exponent;
  #span;

  /** @param {{ clients: number, exponent: number, seed: number }} options The exponent is from 0 to below 1. */
  constructor({ clients, exponent, seed }) {
    this.#draws = new Draws(seed);
    this.#exponent = 1 / (1 - exponent);
    this.#span = (clients + 1) ** (1 - exponent) - 1;
  }

  /** The rank of the client that asks next, from 0. */
  next() {
    return Math.floor((1 + this.#draws.next() * this.#span) ** this.#exponent) - 1;
  }
}
