// Shared by the scripts that draw what a limiter decides: one bucket with a simulated clock.

/**
 * @typedef {import('./built-core.mjs').Core} Core
 * @typedef {import('../packages/core/src/index.ts').Rate} Rate
 * @typedef {import('./drawing.mjs').Mark} Mark
 * @typedef {import('./drawing.mjs').Point} Point
 */

/** One bucket of a limit, its clock, and its tokens over time. */
export class Bucket {
  /** @type {Point[]} */
  points = [];
  #entry = /** @type {const} */ ({ limit: 'Only', id: 'one' });

  /**
   * @param {Core} core
   * @param {Rate & { burst: number }} numbers
   */
  constructor({ createLimiter, accountId, FakeTime }, numbers) {
    this.time = new FakeTime();
    this.limiter = createLimiter({ limits: { Only: { key: accountId(), ...numbers } }, time: this.time });
    this.burst = numbers.burst;
    this.tokenMs = Number(numbers.period) / numbers.count;
  }

  /**
   * @param {number} atMs
   * @param {{ cost?: number, share?: number }} [given]
   */
  async spend(atMs, given = {}) {
    await this.#moveTo(atMs);
    const decision = await this.limiter.spend([{ ...this.#entry, ...given }]);
    await this.#note();
    return decision;
  }

  /**
   * @param {number} atMs
   * @param {number} cost
   */
  async charge(atMs, cost) {
    await this.#moveTo(atMs);
    await this.limiter.charge([{ ...this.#entry, cost }]);
    await this.#note();
  }

  /**
   * Returns the tokens over time, up to a moment.
   *
   * @param {number} endMs
   */
  async curve(endMs) {
    await this.#moveTo(endMs);
    return this.points;
  }

  /** @param {number} atMs */
  async #moveTo(atMs) {
    const last = this.points.at(-1);
    const fullMs = last === undefined ? 0 : last.atMs + (this.burst - last.value) * this.tokenMs;
    if (fullMs > 0 && fullMs < atMs) await this.#moveTo(fullMs);
    this.time.set(atMs);
    await this.#note();
  }

  async #note() {
    const { resetAfterMs } = await this.limiter.check([{ ...this.#entry, cost: 0 }]);
    this.points.push({ atMs: this.time.nowMs, value: this.burst - resetAfterMs / this.tokenMs });
  }
}

/** @param {{ allowed: boolean }} decision @returns {Mark} */
export const outcome = ({ allowed }) => (allowed ? 'yes' : 'no');

/** @param {{ from: number, every: number, count: number }} moments */
export function moments({ from, every, count }) {
  return Array.from({ length: count }, (_, index) => from + index * every);
}
