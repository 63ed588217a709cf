const TICK_MS = 2;

interface Stall {
  readonly fromMs: number;
  readonly toMs: number;
}

/**
 * When this process could not run, because the machine did something else or the process collected garbage. The clock
 * of a client goes on meanwhile, and no deadline can be kept: what is promised is promised for the time beside it.
 */
export class Stalls {
  readonly #stalls: Stall[] = [];
  readonly #timer: NodeJS.Timeout;
  #lastMs = performance.now();

  constructor() {
    this.#timer = setInterval(() => this.#tick(), TICK_MS);
  }

  /** How much of a span of time the process stood still, in milliseconds. */
  within(fromMs: number, toMs: number): number {
    const overlaps = this.#stalls.map((stall) => Math.min(stall.toMs, toMs) - Math.max(stall.fromMs, fromMs));
    return overlaps.reduce((sum, overlap) => sum + Math.max(0, overlap), 0);
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  // A tick that comes some milliseconds late is a busy process; one that comes later is a stalled one.
  #tick(): void {
    const nowMs = performance.now();
    if (nowMs - this.#lastMs > 4 * TICK_MS) this.#stalls.push({ fromMs: this.#lastMs + TICK_MS, toMs: nowMs });
    this.#lastMs = nowMs;
  }
}
