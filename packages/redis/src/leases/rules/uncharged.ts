/**
 * What one process let through beyond its leases and what it gives back, until Redis has counted both.
 *
 * Each increment x turns a TAT into max(TAT, now) + x = max(TAT + x, now + x). Increments in a row together turn it into
 * max(TAT + sum, own), where `own` is the TAT that they leave in a full bucket. So these two numbers suffice to do to the
 * shared TAT later exactly what the increments would have done to it one by one.
 */
export class Uncharged {
  /** The sum of the increments since the last sync. */
  chargeTicks = 0;
  /** The TAT that they would leave in a full bucket, by the clock of the process; −Infinity without one. */
  ownTatTicks: number = -Infinity;
  /** Refunds since the last sync. */
  returnTicks = 0;
  /** The increments that were sent in the sync that is not answered yet. */
  sentChargeTicks = 0;
  sentOwnTatTicks: number = -Infinity;

  get isEmpty(): boolean {
    return this.totalTicks === 0 && this.ownTatTicks === -Infinity && this.returnTicks === 0;
  }

  /** All increments that Redis may not have counted. */
  get totalTicks(): number {
    return this.chargeTicks + this.sentChargeTicks;
  }

  add(incrementTicks: number, nowTicks: number): void {
    this.chargeTicks += incrementTicks;
    this.ownTatTicks = Math.max(this.ownTatTicks, nowTicks) + incrementTicks;
  }

  /** Moves the increments into the sync that is sent now. */
  send(): void {
    this.sentChargeTicks = this.chargeTicks;
    this.sentOwnTatTicks = this.ownTatTicks;
    this.chargeTicks = 0;
    this.ownTatTicks = -Infinity;
  }

  /** Drops what was sent: Redis has counted it. */
  sentCounted(): void {
    this.sentChargeTicks = 0;
    this.sentOwnTatTicks = -Infinity;
  }

  /** Drops what was not sent yet, because the bucket was reset. */
  forget(): void {
    this.chargeTicks = 0;
    this.ownTatTicks = -Infinity;
    this.returnTicks = 0;
  }
}
