import { fits, levelOf, remainingTokens } from '../../packages/core/src/rule/gcra.ts';
import { TICKS_PER_MS } from '../../packages/core/src/rule/ticks.ts';

/** The limit that the page shows: `burst: 5, count: 1, period: '1s'`. The answers of answers.data.mjs are made by it. */
export const BURST = 5;
const PERIOD_MS = 1000;

const INTERVAL = PERIOD_MS * TICKS_PER_MS;
const TOLERANCE = BURST * INTERVAL;

/** A bucket, which is decided by the rule of the core. */
export class Bucket {
  #tat = 0;

  /** Decides a request. @returns The tokens that are left, or null when the request is denied. */
  send(nowMs: number): number | null {
    const now = Math.floor(nowMs * TICKS_PER_MS);
    const level = levelOf(this.#tat, now);
    if (!fits(level, INTERVAL, TOLERANCE)) return null;
    this.#tat = now + level + INTERVAL;
    return remainingTokens(level + INTERVAL, INTERVAL, TOLERANCE);
  }

  /** How many tokens the bucket has, with parts of a token. */
  tokensAt(nowMs: number): number {
    return BURST - levelOf(this.#tat, nowMs * TICKS_PER_MS) / INTERVAL;
  }
}
