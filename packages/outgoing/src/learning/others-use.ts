/**
 * Estimates how much others use of what a provider has left, between the answer to one call of this process and the arrival of
 * its next call: as much as they have used during the latest calls of this process.
 */
export class OthersUse {
  #amount = 0;

  /** How much it was. It grows at once, and shrinks by an eighth of the difference. */
  get amount(): number {
    return this.#amount;
  }

  /** Takes note of what others have used while a call was on its way. */
  saw(amount: number): void {
    this.#amount = Math.max(amount, (7 * this.#amount + amount) / 8, 0);
  }
}
