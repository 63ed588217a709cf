/**
 * Checks in every window of time that no more was let through than the bound allows:
 *
 *     admitted(window) ≤ allowed + window + given back in the window, or at most `horizon` before it
 *
 * All in ticks: a token counts with the T of the process that let it through.
 */
export class BoundCheck {
  #allowedTicks: number;
  readonly #horizonTicks: number;
  /** The most that any window up to now has let through beyond its length and what was given back. */
  #levelTicks = 0;
  #atTicks = 0;
  /** What was given back within the horizon. */
  #recent: { readonly atTicks: number; readonly ticks: number }[] = [];
  #recentTicks = 0;
  /** The part of what was allowed that was used at most. Above 1, the bound does not hold. */
  worstShare = 0;

  constructor(allowedTicks: number, horizonTicks: number) {
    this.#allowedTicks = allowedTicks;
    this.#horizonTicks = horizonTicks;
  }

  /** Allows more from now on. */
  allow(ticks: number): void {
    this.#allowedTicks += ticks;
  }

  admit(atTicks: number, ticks: number): void {
    this.#advance(atTicks);
    this.#levelTicks += ticks;
    this.worstShare = Math.max(this.worstShare, this.#levelTicks / this.#allowedTicks);
  }

  giveBack(atTicks: number, ticks: number): void {
    if (ticks <= 0) return;
    this.#advance(atTicks);
    this.#levelTicks -= ticks;
    this.#recent.push({ atTicks, ticks });
    this.#recentTicks += ticks;
  }

  #advance(atTicks: number): void {
    while (this.#recent.length > 0 && this.#recent[0]!.atTicks < atTicks - this.#horizonTicks) {
      this.#recentTicks -= this.#recent.shift()!.ticks;
    }
    // A window that begins now, or the worst of those before.
    this.#levelTicks = Math.max(this.#levelTicks - (atTicks - this.#atTicks), -this.#recentTicks);
    this.#atTicks = atTicks;
  }
}
