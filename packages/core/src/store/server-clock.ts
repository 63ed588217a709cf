import { TICKS_PER_MS } from '../rule/ticks.ts';

/** Ticks count from 2026-01-01 UTC. */
const EPOCH_MS = 1_767_225_600_000;
/** Ten years, the highest level: see `StoreTransaction`. */
const MAX_LEVEL_TICKS = 3653 * 86_400_000 * TICKS_PER_MS;

/** One reading of a server's clock, in ticks of 1/16 µs. `sentTicks` and `gotTicks` are of the process's own clock. */
export interface ClockSample {
  readonly sentTicks: number;
  readonly gotTicks: number;
  readonly serverTicks: number;
}

/**
 * Estimates by how much a server's clock is ahead of the process's own clock.
 *
 * The server read its clock at some moment between `sent` and `got`, so the difference is between server − got and
 * server − sent. The estimate is the intersection of these intervals. If a sample contradicts it, a clock was set, the
 * clocks have drifted apart, or the server is another one: the estimate is then that sample alone.
 */
export class ServerClock {
  /**
   * Why a server can't have a bucket that is full again at most ten years after `nowTicks`: ticks are exact up to 2^53, in
   * November 2043. Undefined if it can.
   */
  static lateReason(nowTicks: number): string | undefined {
    if (nowTicks + MAX_LEVEL_TICKS <= 2 ** 53) return undefined;
    const now = new Date(EPOCH_MS + nowTicks / TICKS_PER_MS).toISOString();
    return `The clock of the server reads ${now}, and this version stores times until November 2043. If that is wrong, set the clock`;
  }

  #lowTicks = -Infinity;
  #highTicks = Infinity;

  /** The width of the interval in milliseconds: at most the quickest round trip in it. `undefined` without a sample. */
  get uncertaintyMs(): number | undefined {
    return this.#highTicks === Infinity ? undefined : (this.#highTicks - this.#lowTicks) / TICKS_PER_MS;
  }

  /** Narrows the estimate by a reading of the server's clock. */
  learn({ sentTicks, gotTicks, serverTicks }: ClockSample): void {
    const low = serverTicks - gotTicks;
    const high = serverTicks - sentTicks;
    const contradicts = low > this.#highTicks || high < this.#lowTicks;
    this.#lowTicks = contradicts ? low : Math.max(low, this.#lowTicks);
    this.#highTicks = contradicts ? high : Math.min(high, this.#highTicks);
  }

  /**
   * Converts a moment to the server's time. The result is the earliest that the samples allow, so that a script never
   * writes after its deadline.
   *
   * @param ticks - A moment of the process's own clock.
   */
  notAfter(ticks: number): number {
    return ticks + this.#lowTicks;
  }

  /** Begins anew, for example with another server. */
  forget(): void {
    this.#lowTicks = -Infinity;
    this.#highTicks = Infinity;
  }
}
