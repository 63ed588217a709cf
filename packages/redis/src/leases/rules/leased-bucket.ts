import type { BucketName } from '@sluice/core/store';
import { BucketLeases, NO_LEASES } from './bucket-leases.ts';
import type { LeaseNumbers } from './lease-numbers.ts';
import { Spent, type Lease } from './lease.ts';
import { LocalOutage } from './local-outage.ts';
import { Uncharged } from './uncharged.ts';

/** How a leased limit decides. */
export interface LeaseTerms extends LeaseNumbers {
  /** Whether a request may wait for a sync when the process can't decide it. Otherwise it is denied. */
  readonly waits: boolean;
  /** What decides while Redis does not answer, once the leases are spent. */
  readonly onFailure: 'closed' | 'local' | 'open';
}

/** The names of a bucket: in the process and in Redis. */
export interface LeasedName extends BucketName {
  /** The Redis key. */
  readonly key: string;
}

/** What a bucket needs of the stream that syncs it. */
export interface BucketStream {
  /** True while Redis does not answer. */
  readonly isOpen: boolean;
  /** When that began. */
  readonly openSinceTicks: number;
  /** True while its keys are moved in a cluster, so that it can't sync. */
  readonly isMoving: boolean;
  /** When the last answer came; −Infinity before the first one. */
  readonly answeredAtTicks: number;
  /** When the next call is to be made. */
  readonly nextTicks: number;
  /** How long the last calls took; 0 before the first answer. */
  readonly roundTripTicks: number;
  /** The clock of Redis minus that of the process, at most. Undefined before the first answer. */
  readonly serverAheadTicks: number | undefined;
  /** Asks for a sync of the bucket, as soon as it is due. */
  request(bucket: LeasedBucket, nowTicks: number): void;
  /** Asks for a sync of the bucket now, because one more request waits for it. */
  requestEarly(bucket: LeasedBucket, nowTicks: number): void;
  /** Ends the wait of one request for a sync of the bucket. */
  endWait(bucket: LeasedBucket): void;
}

/** What a bucket says about a cost. The higher number decides a batch. */
export const FITS = 0;
export const WAITS = 1;
/** Redis decides it, at once. */
export const EXACT = 2;
export const DENIES = 3;
export const UNAVAILABLE = 4;
export type Look = typeof FITS | typeof WAITS | typeof EXACT | typeof DENIES | typeof UNAVAILABLE;

/**
 * One bucket as one process sees it. All times are of the process's own clock, in ticks, except `floorTicks`.
 *
 * The process spends leases first, then its overdraft. A bucket is looked at and then spent from at the same moment, with
 * the same tokens.
 */
export class LeasedBucket {
  readonly limit: string;
  readonly id: string;
  /** The Redis key. */
  readonly key: string;
  readonly stream: BucketStream;
  terms: LeaseTerms;

  /** The view: the TAT at the last answer, and what the process let through since. */
  tatTicks: number = -Infinity;
  /** The TAT at the last answer. */
  viewTicks: number = -Infinity;
  /** When the view was made. */
  viewAtTicks: number = -Infinity;
  /** The number of the sync that made the view. */
  viewSequence = 0;
  /** Since when the TAT in the answers of Redis has not risen by more than the others may fail to report. */
  steadySinceTicks: number = -Infinity;
  /** The TAT, by the clock of Redis, above which it has risen by more. */
  steadyFloorTicks = 0;
  /** The TAT at the last answer, by the clock of Redis; 0 before. */
  floorTicks = 0;
  /** Made with the first lease: most buckets of ids that are asked for once never have one. */
  leases: BucketLeases = NO_LEASES;
  readonly uncharged: Uncharged = new Uncharged();
  outage: LocalOutage | undefined = undefined;
  /** Until then nothing is leased: other processes may still report what they let through in an outage. */
  calmUntilTicks = 0;

  /** The tokens that were asked for since the last due sync. */
  askedTokens = 0;
  /** How many tokens are asked for between two syncs. */
  demandTokens = 0;
  /** True if a decision depends on the view, which is to be read again. */
  isTouched = false;
  /** True if the key contained something else at the last sync. Then only Redis decides. */
  isBroken = false;
  /** True while the stream has a request for it. */
  isPending = false;
  /** True if its id was not asked for shortly before. */
  isNew = false;
  /** True if its request is, or was last, among those of new buckets without a view. */
  isFresh = false;
  /** When its next sync is due. */
  dueTicks = 0;
  /** The time before that in which what was asked for is counted. */
  dueGapTicks = 0;
  /** How many requests wait for a sync, and for how many tokens. */
  waiting = 0;
  waitingTokens = 0;
  /** How many waiting batches have it, even if they wait for another bucket, or for Redis to decide the rest. */
  usedByWaiting = 0;
  /** When it was last asked for. */
  usedAtTicks: number = -Infinity;
  /** True after the process has forgotten the bucket. */
  isDropped = false;
  /** Where its stream has it. */
  place = 0;

  /** By the last look: the tokens that the leases lack, and the wait of a denial. */
  lackingTokens = 0;
  retryTicks = 0;

  constructor({ limit, id, key }: LeasedName, stream: BucketStream, terms: LeaseTerms) {
    this.limit = limit;
    this.id = id;
    this.key = key;
    this.stream = stream;
    this.terms = terms;
  }

  /**
   * True if only Redis can decide it now: its key contains something else, or its stream can't sync. In a local outage this
   * process continues to decide, because Redis does not know yet what it has let through.
   */
  get isLeftToRedis(): boolean {
    return this.isBroken || (this.stream.isMoving && this.outage === undefined);
  }

  /** Decides a cost by what the process knows. Takes nothing. */
  look(tokens: number, nowTicks: number): Look {
    if (nowTicks >= this.leases.nextLapseTicks) this.leases.dropLapsed(nowTicks);
    const lacking = tokens - this.leases.tokens;
    if (lacking <= 0) {
      this.lackingTokens = 0;
      return FITS;
    }
    this.lackingTokens = lacking;
    if (this.isLeftToRedis) return EXACT;
    if (this.stream.isOpen || this.outage !== undefined) return this.#lookInOutage(nowTicks);
    const { terms } = this;
    const increment = lacking * terms.intervalTicks;
    const wait = this.#waitByView(increment, nowTicks);
    const isOld = this.isOld(nowTicks);
    const isSettled = this.#isSettled;
    if (wait > 0 && !isOld && isSettled) return this.#denies(wait);
    if (this.isLarge(tokens)) return EXACT;
    if (wait > 0) return this.isTooSlow ? EXACT : terms.waits ? WAITS : this.#denies(wait);
    if (this.#fitsOverdraft(increment)) return FITS;
    if (this.isTooSlow) return EXACT;
    // Requests that wait already come first.
    const inLine = this.#waitByView(increment + this.waitingTokens * terms.intervalTicks, nowTicks);
    return terms.waits && (inLine === 0 || !isSettled) ? WAITS : this.#denies(inLine);
  }

  /** Returns how long a cost has to wait by the view: 0 if it fits. */
  waitByView(tokens: number, nowTicks: number): number {
    return this.#waitByView((tokens - this.leases.tokens) * this.terms.intervalTicks, nowTicks);
  }

  /** Returns the wait of a cost that is denied now. */
  waitOfDenial(tokens: number, nowTicks: number): number {
    return this.#waitOfDenial(this.waitByView(tokens, nowTicks));
  }

  /** Takes the tokens of the last look, which fitted. */
  spend(tokens: number, nowTicks: number): Spent {
    const spent = new Spent();
    const lacking = this.lackingTokens;
    if (tokens > lacking) this.leases.spend(tokens - lacking, spent);
    if (lacking > 0) this.#spendBeyond(lacking * this.terms.intervalTicks, nowTicks, spent);
    return spent;
  }

  /** Takes tokens whether they fit or not, at most up to an empty bucket. */
  charge(tokens: number, nowTicks: number): Spent {
    const spent = new Spent();
    const free = this.terms.fitTicks - this.levelTicks(nowTicks);
    const increment = Math.min(tokens * this.terms.intervalTicks, free);
    if (increment > 0) this.#overdraw(increment, nowTicks, spent);
    return spent;
  }

  /** Adds a lease that Redis has granted. */
  addLease(lease: Lease): void {
    if (this.leases === NO_LEASES) this.leases = new BucketLeases();
    this.leases.add(lease);
  }

  /** Gives back what a decision took. */
  refund(spent: Spent, nowTicks: number): void {
    if (this.isDropped) return;
    if (nowTicks >= this.leases.nextLapseTicks) this.leases.dropLapsed(nowTicks);
    this.leases.refund(spent);
    const returned = Math.min(spent.overdraftTicks, spent.tatAfterTicks - nowTicks);
    if (returned <= 0) return;
    this.uncharged.returnTicks += returned;
    this.stream.request(this, nowTicks);
  }

  /** Gives tokens back to the lease that lapses at a moment. They are lost if it has lapsed. */
  giveBack(tokens: number, lapseTicks: number, nowTicks: number): void {
    if (nowTicks >= this.leases.nextLapseTicks) this.leases.dropLapsed(nowTicks);
    this.leases.giveBack(tokens, lapseTicks);
  }

  /**
   * Forgets what the process knows, after it has reset the bucket in Redis.
   *
   * @param sentTicks - When the reset was sent. Leases that were asked for later remain.
   */
  reset(nowTicks: number, sentTicks: number): void {
    this.leases.forget(sentTicks);
    this.uncharged.forget();
    this.tatTicks = -Infinity;
    this.viewTicks = -Infinity;
    this.floorTicks = 0;
    this.outage = undefined;
    this.touch(nowTicks);
  }

  /** Reads the bucket again, after the process has refunded tokens of it in Redis. */
  lowered(nowTicks: number): void {
    this.leases.forbidReturns();
    this.touch(nowTicks);
  }

  /** Applies other numbers. All that is counted in ticks remains; leases, which are counted in tokens, go back. */
  setTerms(terms: LeaseTerms, nowTicks: number): void {
    this.leases.dropAll(nowTicks);
    this.terms = terms;
    this.touch(nowTicks);
  }

  /**
   * Follows the policy `local` until the bucket is synced, because a request has waited in vain for that.
   *
   * @param sinceTicks - Redis has not answered since then.
   */
  beginOutage(sinceTicks: number, nowTicks: number): void {
    this.outage ??= new LocalOutage(sinceTicks, this.terms, this);
    this.touch(nowTicks);
  }

  /** Has the bucket read at its next due sync. */
  touch(nowTicks: number): void {
    this.isTouched = true;
    this.stream.request(this, nowTicks);
  }

  /** Returns the level by the view. What is leased counts as spent. */
  levelTicks(nowTicks: number): number {
    return this.tatTicks > nowTicks ? this.tatTicks - nowTicks : 0;
  }

  /** Returns the level by the view, as if the tokens of leases were not spent. */
  levelWithoutLeases(nowTicks: number): number {
    return Math.max(0, this.levelTicks(nowTicks) - this.leases.tokens * this.terms.intervalTicks);
  }

  /** How many tokens the process let through that Redis may not have counted. */
  get unchargedTokens(): number {
    return (this.uncharged.totalTicks + (this.outage?.spentTicks ?? 0)) / this.terms.intervalTicks;
  }

  /** The time from one due sync to the next: the longest one while nothing is leased, because the overdraft pays for all. */
  gapTicks(nowTicks: number): number {
    const { dueTicks, syncTicks, overdraftTokens, settleTicks } = this.terms;
    if (this.reportsSoon(nowTicks)) return settleTicks;
    const demand = Math.max(this.askedTokens, this.demandTokens);
    return this.leases.isEmpty && demand * syncTicks <= overdraftTokens * dueTicks ? syncTicks : dueTicks;
  }

  /** Whether denials of other processes may be near, and wrong without the report of what this one has let through. */
  reportsSoon(nowTicks: number): boolean {
    return this.terms.settleTicks > 0 && this.#isMuch(this.uncharged.chargeTicks) && this.#isNearLimit(nowTicks);
  }

  /**
   * Whether Redis decides a cost, unless leases happen to pay for it. Leases and overdrafts are small change: a large cost
   * would wait for them while smaller ones take them.
   */
  isLarge(tokens: number): boolean {
    return tokens > 1 && 2 * tokens > this.terms.overdraftTokens;
  }

  /** Whether the view is too old to deny by it. */
  isOld(nowTicks: number): boolean {
    return nowTicks - this.viewAtTicks > 2 * this.terms.dueTicks;
  }

  /** Whether Redis answers so late that a lease would lapse before the next one comes. */
  get isTooSlow(): boolean {
    return this.stream.roundTripTicks > this.terms.leaseTicks - this.terms.dueTicks;
  }

  /** What a denial by Redis, if it is asked now, may lack: reports are late, and this process has not sent its own. */
  get unreportedTicks(): number {
    if (!this.isTooSlow || this.terms.settleTicks === 0) return 0;
    return this.#othersOverdraftTicks + this.uncharged.chargeTicks;
  }

  /**
   * Whether nothing is lost when the bucket is dropped. As an unknown bucket it gets a new overdraft before it has a view. So it
   * is not at rest while that could be beyond the limit, or while a batch is about to spend from it.
   */
  isAtRest(nowTicks: number, idleTicks: number = this.terms.syncTicks): boolean {
    return (
      this.#isFarFromFull(nowTicks) &&
      nowTicks - this.usedAtTicks > idleTicks &&
      this.uncharged.isEmpty &&
      this.leases.isEmpty &&
      !this.isPending &&
      this.usedByWaiting === 0 &&
      this.outage === undefined &&
      nowTicks >= this.calmUntilTicks
    );
  }

  /**
   * Whether the bucket is empty by its view, or so little used that the overdrafts of many syncs would not fill it: each answer
   * shows what others have taken, and above half of the burst the bucket is remembered.
   */
  #isFarFromFull(nowTicks: number): boolean {
    const { overdraftTicks, fitTicks } = this.terms;
    if (this.tatTicks <= nowTicks) return true;
    return 2 * (this.levelTicks(nowTicks) + overdraftTicks) <= fitTicks;
  }

  /** Whether the view shows what the other processes let through, so that a denial can tell how long to wait. */
  get #isSettled(): boolean {
    const { settleTicks } = this.terms;
    if (settleTicks === 0) return true;
    // A client whose requests come to this process since the view was made has come to others, too.
    if (this.#isMuch(this.uncharged.totalTicks)) return false;
    // A report is sent after the answer to the call before.
    return this.viewAtTicks - this.steadySinceTicks >= settleTicks + this.stream.roundTripTicks;
  }

  /** Whether as much, let through by each other process, is more than a denial adds to its wait. */
  #isMuch(unreportedTicks: number): boolean {
    return unreportedTicks * (this.terms.gateways - 1) > this.terms.reportTicks;
  }

  /**
   * Whether all processes may use the bucket up before the next due sync. Each lets through four tokens, and an overdraft;
   * of large overdrafts, all together half of the burst, and four times what this process has let through, times all.
   */
  #isNearLimit(nowTicks: number): boolean {
    const { gateways, intervalTicks, overdraftTicks, fitTicks } = this.terms;
    const soonTicks = fitTicks / 2 + 4 * gateways * this.uncharged.totalTicks;
    const leftTicks = fitTicks - this.levelTicks(nowTicks) - 4 * gateways * intervalTicks;
    return Math.min(gateways * overdraftTicks, soonTicks) > leftTicks;
  }

  #waitByView(increment: number, nowTicks: number): number {
    return Math.max(0, this.levelTicks(nowTicks) + increment - this.terms.fitTicks);
  }

  /** What is on its way counts until Redis has counted it. */
  #fitsOverdraft(increment: number): boolean {
    return this.uncharged.totalTicks + increment <= this.terms.overdraftTicks;
  }

  #lookInOutage(nowTicks: number): Look {
    const { onFailure, intervalTicks } = this.terms;
    if (onFailure === 'open') return FITS;
    if (onFailure === 'closed') return UNAVAILABLE;
    const increment = this.lackingTokens * intervalTicks;
    const wait = Math.max(this.#waitByView(increment, nowTicks), this.#waitInOutage(increment, nowTicks));
    if (wait === 0) return FITS;
    this.retryTicks = wait;
    return DENIES;
  }

  #waitInOutage(increment: number, nowTicks: number): number {
    // From its beginning: what was let through before has refilled since.
    return (this.outage ?? this.#newOutage()).waitFor(increment, nowTicks, this.terms);
  }

  #newOutage(): LocalOutage {
    return new LocalOutage(this.stream.openSinceTicks, this.terms, this);
  }

  /** @param waitTicks - By the view. */
  #denies(waitTicks: number): Look {
    this.retryTicks = this.#waitOfDenial(waitTicks);
    return DENIES;
  }

  /** Adds what the other processes may have let through since the view was made. */
  #waitOfDenial(waitTicks: number): number {
    const othersTicks = this.#isSettled ? this.terms.reportTicks : this.#othersOverdraftTicks;
    return Math.max(waitTicks + othersTicks, this.terms.dueTicks);
  }

  get #othersOverdraftTicks(): number {
    return (this.terms.gateways - 1) * this.terms.overdraftTicks;
  }

  #spendBeyond(increment: number, nowTicks: number, spent: Spent): void {
    if (!this.stream.isOpen && this.outage === undefined) this.#overdraw(increment, nowTicks, spent);
    else if (this.terms.onFailure === 'local') this.#spendInOutage(increment, nowTicks);
  }

  #overdraw(increment: number, nowTicks: number, spent: Spent): void {
    this.tatTicks = Math.max(this.tatTicks, nowTicks) + increment;
    this.uncharged.add(increment, nowTicks);
    spent.overdraftTicks = increment;
    spent.tatAfterTicks = this.tatTicks;
    this.stream.request(this, nowTicks);
  }

  #spendInOutage(increment: number, nowTicks: number): void {
    this.outage ??= this.#newOutage();
    this.outage.spend(increment, nowTicks);
    this.tatTicks = Math.max(this.tatTicks, nowTicks) + increment;
    this.touch(nowTicks);
  }
}
