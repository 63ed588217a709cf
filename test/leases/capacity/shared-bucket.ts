/** One bucket that decides each request at once: what the processes together would do without leases. */
export class SharedBucket {
  readonly #fitTicks: number;
  readonly #intervalTicks: number;
  #tatTicks = 0;

  constructor({ fitTicks, intervalTicks }: { readonly fitTicks: number; readonly intervalTicks: number }) {
    this.#fitTicks = fitTicks;
    this.#intervalTicks = intervalTicks;
  }

  spend(tokens: number, nowTicks: number): boolean {
    const tatTicks = Math.max(this.#tatTicks, nowTicks) + tokens * this.#intervalTicks;
    if (tatTicks - nowTicks > this.#fitTicks) return false;
    this.#tatTicks = tatTicks;
    return true;
  }
}
