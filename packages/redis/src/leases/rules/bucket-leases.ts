import { Spent, type Lease } from './lease.ts';

/** More leases than these are merged, so that no decision looks at many. */
const MOST_LEASES = 4;

/** The leases that one process has for one bucket, oldest first, and what is left of those that have lapsed. */
export class BucketLeases {
  /** The tokens of all leases together. */
  tokens = 0;
  /** When the next lease lapses; Infinity without a lease. */
  nextLapseTicks: number = Infinity;
  /** At most so many tokens of leases have lapsed and were not given back. */
  forfeitedTokens = 0;
  readonly #leases: Lease[] = [];
  /** Leases that have lapsed, with tokens that are to be given back. */
  #lapsed: Lease[] = [];
  /** The tokens of what is given back in the sync that is not answered yet. */
  #sentTokens = 0;

  /** True if there is neither a lease, spent or not, nor something of one to give back. */
  get isEmpty(): boolean {
    return this.#leases.length === 0 && this.#lapsed.length === 0;
  }

  /** True if something of lapsed leases is to be given back. */
  get hasLapsed(): boolean {
    return this.#lapsed.length > 0;
  }

  add(lease: Lease): void {
    if (this.#leases.length === MOST_LEASES) merge(this.#leases.shift()!, this.#leases[0]!);
    this.#leases.push(lease);
    this.#count();
  }

  /**
   * Takes tokens from the oldest leases, and records which.
   *
   * @param tokens - From 1 to those of all leases.
   */
  spend(tokens: number, spent: Spent): void {
    this.tokens -= tokens;
    const oldest = this.#leases[0]!;
    if (oldest.tokens >= tokens) {
      oldest.tokens -= tokens;
      spent.lease = oldest;
      spent.leaseTokens = tokens;
    } else this.#spendSeveral(tokens, spent);
  }

  /** Gives the tokens of a decision back to their leases. The tokens of leases that are over are lost. */
  refund(spent: Spent): void {
    for (let part: Spent | undefined = spent; part !== undefined; part = part.older) {
      if (part.lease?.isLive !== true) continue;
      part.lease.tokens += part.leaseTokens;
      this.tokens += part.leaseTokens;
    }
  }

  /** Gives tokens back to the lease that lapses at a moment. If there is none, they are lost. */
  giveBack(tokens: number, lapseTicks: number): void {
    const lease = this.#leases.find((each) => each.lapseTicks === lapseTicks);
    if (lease === undefined) return;
    lease.tokens += tokens;
    this.tokens += tokens;
  }

  /** Drops the leases whose time is over, and keeps what is left of them to be given back. */
  dropLapsed(nowTicks: number): void {
    this.#dropUntil(nowTicks, nowTicks);
  }

  /** Drops all leases, because the numbers of their limit have changed, and keeps what is left to be given back. */
  dropAll(nowTicks: number): void {
    this.#dropUntil(Infinity, nowTicks);
  }

  /**
   * Forgets the leases that were asked for before their bucket was reset, which has given them back. Those that were asked for
   * later are charged in the bucket that is full again: they remain.
   *
   * @param resetTicks - When the reset was sent.
   */
  forget(resetTicks: number): void {
    this.#lapsed = [];
    const kept = this.#leases.filter(({ sentTicks }) => sentTicks > resetTicks);
    for (const lease of this.#leases) if (lease.sentTicks <= resetTicks) lease.isLive = false;
    this.#leases.splice(0, Infinity, ...kept);
    this.#count();
  }

  /** Prevents that anything of these leases is given back, because somebody has lowered the TAT. */
  forbidReturns(): void {
    for (const { tokens } of this.#lapsed) this.forfeitedTokens += tokens;
    this.#lapsed = [];
    for (const lease of this.#leases) lease.returnableUntilTicks = -Infinity;
  }

  /**
   * Takes what lapsed leases give back: each leaves the bucket as if it had been smaller, so they add up.
   *
   * @param latestTicks - The latest time at which Redis gives it back. What the charges still cover then can be given
   * back; the rest has refilled by itself.
   */
  takeReturn(latestTicks: number): number {
    let returned = 0;
    for (const lease of this.#lapsed) {
      const ticks = lease.returnableTicks(latestTicks);
      const tokens = ticks / lease.intervalTicks;
      returned += ticks;
      this.#sentTokens += tokens;
      this.forfeitedTokens += lease.tokens - tokens;
    }
    this.#lapsed = [];
    return returned;
  }

  /** Ends what {@link takeReturn} began. @param wasApplied - Whether Redis is known to have given it back. */
  returnAnswered(wasApplied: boolean): void {
    if (!wasApplied) this.forfeitedTokens += this.#sentTokens;
    this.#sentTokens = 0;
  }

  #dropUntil(lapseTicks: number, nowTicks: number): void {
    const kept = this.#leases.filter((lease) => lease.lapseTicks > lapseTicks);
    for (const lease of this.#leases) if (lease.lapseTicks <= lapseTicks) this.#drop(lease, nowTicks);
    this.#leases.splice(0, Infinity, ...kept);
    this.#count();
  }

  #drop(lease: Lease, nowTicks: number): void {
    lease.isLive = false;
    if (lease.returnableTicks(nowTicks) > 0) this.#lapsed.push(lease);
    else this.forfeitedTokens += lease.tokens;
  }

  #spendSeveral(tokens: number, spent: Spent): void {
    let left = tokens;
    for (const lease of this.#leases) {
      const part = Math.min(left, lease.tokens);
      if (part === 0) continue;
      if (spent.lease !== undefined) spent.older = olderOf(spent);
      lease.tokens -= part;
      spent.lease = lease;
      spent.leaseTokens = part;
      left -= part;
    }
  }

  #count(): void {
    this.tokens = 0;
    this.nextLapseTicks = Infinity;
    for (const { tokens, lapseTicks } of this.#leases) {
      this.tokens += tokens;
      this.nextLapseTicks = Math.min(this.nextLapseTicks, lapseTicks);
    }
  }
}

/** The leases of all buckets that have had no lease: nothing is added to them. */
export const NO_LEASES: BucketLeases = new BucketLeases();

function olderOf({ lease, leaseTokens, older }: Spent): Spent {
  return Object.assign(new Spent(), { lease, leaseTokens, older });
}

/** Adds what is left of a lease to the next one. Both then end as the first of them. */
function merge(lease: Lease, into: Lease): void {
  lease.isLive = false;
  if (lease.tokens === 0) return;
  into.tokens += lease.tokens;
  into.sentTicks = Math.min(into.sentTicks, lease.sentTicks);
  into.lapseTicks = Math.min(into.lapseTicks, lease.lapseTicks);
  into.returnableUntilTicks = Math.min(into.returnableUntilTicks, lease.returnableUntilTicks);
}
