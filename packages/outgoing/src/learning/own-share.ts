/** When this process has used so much, half of it is forgotten, so that others may come and go. */
const MOST = 100;

/**
 * Estimates which part of what a provider has left is for this process: that which was its own of what was used. If there are
 * others, it is half of that, because what they have on their way is not counted yet.
 */
export class OwnShare {
  #byAll = 0;
  #byUs = 0;
  #sinceLeft = 0;
  #left: number | undefined;

  /** Whether others use it too. */
  get hasOthers(): boolean {
    return this.#byAll > this.#byUs;
  }

  /** Returns the part of an amount. */
  of(amount: number): number {
    return this.hasOthers ? (amount * this.#byUs) / this.#byAll / 2 : amount;
  }

  /** Counts what this process has used. */
  used(cost: number): void {
    this.#sinceLeft += cost;
  }

  /** Takes note of what is left. Where it is more than before, how much was used meanwhile is not known. */
  left(amount: number): void {
    if (this.#left !== undefined && amount < this.#left) {
      this.#byAll += this.#left - amount;
      this.#byUs += this.#sinceLeft;
      if (this.#byUs > MOST) {
        this.#byAll /= 2;
        this.#byUs /= 2;
      }
    }
    this.#left = amount;
    this.#sinceLeft = 0;
  }
}
