/** Tokens that Redis has charged in advance, which one process may spend until they lapse. */
export class Lease {
  tokens: number;
  /** T when it was granted. */
  readonly intervalTicks: number;
  /** From this moment on, the tokens can't be spent any more. */
  lapseTicks: number;
  /**
   * Until this moment the charge of this lease alone keeps the bucket from being full. Up to then, what is left of it can
   * be given back, and the bucket is exactly as if the lease had been smaller. It is the sending of the request, which was
   * before the charge, plus the length of the charge. −Infinity if somebody has lowered the TAT since: that may have
   * undone the charge already.
   */
  returnableUntilTicks: number;
  /** When the request for it was sent; of merged leases, the first one. */
  sentTicks: number;
  /** False when the lease has lapsed, or was merged into another. */
  isLive = true;

  /**
   * @param tokens - The tokens that Redis charged, T ticks each.
   * @param sentTicks - When the request for them was sent, by the clock of the process.
   * @param leaseTicks - How long they can be spent, from then on.
   */
  constructor(tokens: number, intervalTicks: number, { sentTicks, leaseTicks }: LeaseTimes) {
    this.tokens = tokens;
    this.intervalTicks = intervalTicks;
    this.sentTicks = sentTicks;
    this.lapseTicks = sentTicks + leaseTicks;
    this.returnableUntilTicks = sentTicks + tokens * intervalTicks;
  }

  /** What can be given back of it at a moment. */
  returnableTicks(atTicks: number): number {
    return Math.max(0, Math.min(this.tokens * this.intervalTicks, this.returnableUntilTicks - atTicks));
  }
}

interface LeaseTimes {
  readonly sentTicks: number;
  readonly leaseTicks: number;
}

/** What a decision took from one bucket, for a refund. */
export class Spent {
  /** The newest lease that it used. Undefined when it used none. */
  lease: Lease | undefined = undefined;
  /** The tokens of that lease. */
  leaseTokens = 0;
  /** The older leases that it used up. Undefined when there were none. */
  older: Spent | undefined = undefined;
  /** What it took beyond the leases. */
  overdraftTicks = 0;
  /** The TAT after it, by the view of the process. */
  tatAfterTicks = 0;

  /** When the oldest lease lapses that it used. Undefined when it used none. */
  get lapseTicks(): number | undefined {
    return this.older === undefined ? this.lease?.lapseTicks : this.older.lapseTicks;
  }
}
