import { TICKS_PER_MS } from '@sluice/core/store';
import type { LeasedBucket, LeaseTerms } from './leased-bucket.ts';
import { Lease } from './lease.ts';
import type { SyncEntry, SyncedBucket } from './sync-call.ts';

/** Redis leases tokens and takes them back only within this time of the sending. A later answer would come too late. */
export const WANT_LIFE_TICKS: number = 100 * TICKS_PER_MS;
/** Below this demand, the overdraft and single waits cost less than leases that lapse. */
const LEAST_DEMAND = 8;
/**
 * What is left of the demand after a due time in which nothing was asked for. With more, requests that have moved to
 * another process find its tokens leased here.
 */
const DEMAND_DECAY = 0.2;
/** How much more than its demand a process leases. */
const HEADROOM = 1.25;
/**
 * The part of what is left in a bucket that a process leases in advance. What refills in a bucket that is used up remains
 * there, until the overdraft or a request that waits spends it: in a lease, it would be lost whenever the requests move to
 * another process.
 */
const MOST_OF_REST = 0.25;

/** The moment of a sync, and what its stream allows. */
export interface Sending {
  readonly nowTicks: number;
  /** The last loss of data that the stream has noticed: views of earlier syncs are restored. */
  readonly lossSequence: number;
  /** False while the clock of Redis is unknown: nothing can be leased or given back then. */
  readonly canLease: boolean;
  /** How long the last calls took. What is leased now can be spent that much shorter. */
  readonly roundTripTicks: number;
  /** Until this moment, nothing is leased at limits with the failure policy `local`. */
  readonly calmUntilTicks: number;
}

/** One bucket in the sync that is not answered yet: what is sent of it, and the numbers at that time. */
export class SentBucket implements SyncEntry {
  readonly bucket: LeasedBucket;
  readonly terms: LeaseTerms;
  readonly key: string;
  readonly chargeTicks: number;
  readonly ownLevelTicks: number | undefined;
  readonly returnTicks: number;
  readonly wantedTokens: number;
  readonly intervalTicks: number;
  readonly fitTicks: number;
  readonly capTicks: number;
  readonly floorTicks: number;
  readonly lost: boolean;
  /** Whether the bucket had no view yet. */
  readonly isFirst: boolean;

  constructor(
    bucket: LeasedBucket,
    { nowTicks, lossSequence }: Sending,
    asked: Pick<SyncEntry, 'returnTicks' | 'wantedTokens'>,
  ) {
    const { key, terms, uncharged, floorTicks, viewSequence } = bucket;
    const own = uncharged.sentOwnTatTicks;
    this.bucket = bucket;
    this.terms = terms;
    this.key = key;
    this.chargeTicks = uncharged.sentChargeTicks;
    this.ownLevelTicks = own === -Infinity ? undefined : own - nowTicks;
    this.returnTicks = asked.returnTicks;
    this.wantedTokens = asked.wantedTokens;
    this.intervalTicks = terms.intervalTicks;
    this.fitTicks = terms.fitTicks;
    this.capTicks = terms.capTicks;
    this.floorTicks = floorTicks;
    this.lost = viewSequence < lossSequence;
    this.isFirst = viewSequence === 0;
  }
}

/** The moment of an answer. */
export interface SyncAnswer {
  readonly nowTicks: number;
  readonly sentTicks: number;
  /** The clock of Redis. */
  readonly serverTicks: number;
  readonly sequence: number;
  /** False if Redis applied the sync too late to give anything back. */
  readonly isInTime: boolean;
}

/**
 * Whether a bucket was asked for only once, for one token, which Redis has counted now. It can be dropped at once: most such
 * buckets are not asked for again. A batch that still needs it has pinned it.
 */
export function isOneTimer({ bucket, isFirst, chargeTicks, intervalTicks }: SentBucket, nowTicks: number): boolean {
  return bucket.isNew && isFirst && chargeTicks === intervalTicks && bucket.isAtRest(nowTicks, 0);
}

/** Whether a sync of the bucket would change or report anything. */
export function needsSync(bucket: LeasedBucket, sending: Sending): boolean {
  return (
    bucket.isTouched ||
    bucket.waiting > 0 ||
    bucket.outage !== undefined ||
    !bucket.uncharged.isEmpty ||
    bucket.leases.hasLapsed ||
    wantedTokens(bucket, sending) > 0
  );
}

/** Ends a due time of the bucket, perhaps late: estimates how many tokens are asked for in the next one. */
export function updateDemand(bucket: LeasedBucket, nowTicks: number): void {
  const { askedTokens, dueGapTicks, dueTicks, terms } = bucket;
  const asked = (askedTokens * terms.dueTicks) / (dueGapTicks + nowTicks - dueTicks);
  bucket.demandTokens = Math.max(Math.ceil(asked), Math.floor(DEMAND_DECAY * bucket.demandTokens));
  bucket.askedTokens = 0;
}

/** Takes what is to be sent of the bucket. */
export function takeEntry(bucket: LeasedBucket, sending: Sending): SentBucket {
  const { nowTicks, canLease } = sending;
  const wanted = wantedTokens(bucket, sending);
  const returnTicks = canLease ? takeReturns(bucket, nowTicks) : 0;
  bucket.uncharged.send();
  bucket.isTouched = false;
  return new SentBucket(bucket, sending, { returnTicks, wantedTokens: wanted });
}

/** Makes the same entry for another attempt. What it gave back and wanted is void: the first attempt may have got it. */
export function retriedEntry({ bucket }: SentBucket, sending: Sending): SentBucket {
  return new SentBucket(bucket, sending, { returnTicks: 0, wantedTokens: 0 });
}

/** Applies the answer of Redis to what is known of a bucket. */
export function applyAnswer(sent: SentBucket, synced: SyncedBucket, answer: SyncAnswer): void {
  const { bucket, terms } = sent;
  const { nowTicks, serverTicks, sequence } = answer;
  const { uncharged, leases } = bucket;
  uncharged.sentCounted();
  // Another attempt gives nothing back: the first one may have done so.
  leases.returnAnswered(answer.isInTime && synced.keptFloor && sent.returnTicks > 0);
  settleOutage(bucket, synced, answer);
  bucket.viewTicks = nowTicks + synced.levelTicks;
  // Without the refunds that are not sent yet: Redis may drop them.
  bucket.tatTicks = Math.max(bucket.viewTicks + uncharged.chargeTicks, uncharged.ownTatTicks);
  bucket.viewAtTicks = nowTicks;
  bucket.viewSequence = sequence;
  bucket.isBroken = synced.isBroken === true;
  // A TAT that has passed needs no restoring.
  const floorTicks = synced.levelTicks > 0 ? serverTicks + synced.levelTicks : 0;
  noteTat(bucket, floorTicks, nowTicks);
  bucket.floorTicks = floorTicks;
  if (!synced.keptFloor) leases.forbidReturns();
  if (synced.grantedTokens > 0) {
    const { sentTicks } = answer;
    bucket.addLease(new Lease(synced.grantedTokens, terms.intervalTicks, { sentTicks, leaseTicks: terms.leaseTicks }));
    // The tokens of other numbers can't be spent.
    if (terms !== bucket.terms) bucket.leases.dropAll(nowTicks);
  }
}

/** Takes note of whether the TAT has risen. Once it was steady for long enough, only the last answer counts. */
function noteTat(bucket: LeasedBucket, floorTicks: number, nowTicks: number): void {
  const { reportTicks, settleTicks } = bucket.terms;
  if (floorTicks > bucket.steadyFloorTicks + reportTicks) bucket.steadySinceTicks = nowTicks;
  else if (floorTicks > bucket.steadyFloorTicks && nowTicks - bucket.steadySinceTicks < settleTicks) return;
  bucket.steadyFloorTicks = floorTicks;
}

function settleOutage(bucket: LeasedBucket, synced: SyncedBucket, { nowTicks, serverTicks }: SyncAnswer): void {
  if (bucket.outage === undefined) return;
  const { floorTicks, viewTicks, uncharged } = bucket;
  const fellTicks = floorTicks > serverTicks ? Math.max(0, floorTicks - serverTicks - synced.levelTicks) : 0;
  bucket.outage.settle(uncharged, { nowTicks, viewTicks, fellTicks });
  if (bucket.outage.spentTicks > 0) bucket.calmUntilTicks = nowTicks + 2 * bucket.terms.syncTicks;
  bucket.outage = undefined;
}

function wantedTokens(bucket: LeasedBucket, sending: Sending): number {
  const { nowTicks, canLease, calmUntilTicks } = sending;
  const { terms, leases, outage } = bucket;
  if (!canLease || outage !== undefined || bucket.isTooSlow) return 0;
  if (terms.onFailure === 'local' && nowTicks < Math.max(calmUntilTicks, bucket.calmUntilTicks)) return 0;
  const wanted = Math.max(usualTokens(bucket, sending), bucket.waitingTokens);
  return Math.max(0, Math.min(terms.burst, wanted - leases.tokens));
}

/** What requests are likely to ask for from the answer to the next one, or to the end of the lease. */
function usualTokens(bucket: LeasedBucket, { nowTicks, roundTripTicks }: Sending): number {
  const { dueTicks, leaseTicks, overdraftTokens, intervalTicks, fitTicks } = bucket.terms;
  // Before a due time is over, what came at once says nothing about what comes next.
  const demand = bucket.waiting > 0 ? bucket.demandTokens : Math.max(bucket.askedTokens, bucket.demandTokens);
  if (demand < LEAST_DEMAND || demand <= overdraftTokens) return 0;
  const usableTicks = Math.min(Math.max(dueTicks, roundTripTicks), leaseTicks - roundTripTicks);
  const leftTicks = Math.max(0, fitTicks - bucket.levelTicks(nowTicks));
  return Math.ceil(Math.min((HEADROOM * demand * usableTicks) / dueTicks, (MOST_OF_REST * leftTicks) / intervalTicks));
}

function takeReturns({ uncharged, leases }: LeasedBucket, nowTicks: number): number {
  const refunds = uncharged.returnTicks;
  uncharged.returnTicks = 0;
  return refunds + leases.takeReturn(nowTicks + WANT_LIFE_TICKS);
}
