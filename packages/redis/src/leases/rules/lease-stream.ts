import { TICKS_PER_MS } from '@sluice/core/store';
import {
  applyAnswer,
  isOneTimer,
  needsSync,
  retriedEntry,
  takeEntry,
  updateDemand,
  WANT_LIFE_TICKS,
  type Sending,
  type SentBucket,
} from './bucket-sync.ts';
import { DueBuckets } from './due-buckets.ts';
import { MIN_SYNC_GAP_TICKS } from './lease-numbers.ts';
import type { BucketStream, LeasedBucket } from './leased-bucket.ts';
import type { SyncCall, SyncReply } from './sync-call.ts';

/** The most buckets of one call: the script takes about 10 µs for each. */
const MOST_BUCKETS = 250;
/** How many buckets a call looks at. Some have nothing to report. */
const MOST_LOOKS = 4 * MOST_BUCKETS;
const STREAM_LIFE_MS = 600_000;
/** An unused stream is kept alive, so that a loss of data can be proved. */
const KEEP_ALIVE_TICKS = 150_000 * TICKS_PER_MS;
/** After so long without an answer, the stream's key may have expired: its absence proves nothing. */
const SURE_LIFE_TICKS = (STREAM_LIFE_MS - 60_000) * TICKS_PER_MS;
const FAILURES_TO_OPEN = 3;
const TRIAL_GAP_TICKS = 100 * TICKS_PER_MS;

interface SentCall {
  readonly call: SyncCall;
  readonly buckets: readonly SentBucket[];
  readonly sentTicks: number;
}

/**
 * Syncs the buckets of a hash slot with Redis, up to {@link MOST_BUCKETS} in a call and one call at a time: while more are
 * due, each call follows the answer to the one before. So neither Redis nor this process works for long at once. Each call has a number, which Redis records: a
 * call that is repeated counts once, and a number that Redis has forgotten proves that it has lost data.
 *
 * Without I/O and timers: the caller sends a call when {@link nextTicks} has come, and reports its outcome.
 */
export class LeaseStream implements BucketStream {
  readonly key: string;
  readonly buckets: LeasedBucket[] = [];
  /** Called with a bucket that is not needed any more, right after its answer: see {@link isOneTimer}. */
  onRest: (bucket: LeasedBucket) => void = () => {};
  /** True while Redis does not answer. */
  isOpen = false;
  /** When that began. */
  openSinceTicks: number = -Infinity;
  /** True while the keys of a sync are on two nodes of a cluster. Each bucket alone can be used in Redis. */
  isMoving = false;
  readonly #syncTicks: number;
  readonly #due: DueBuckets;
  /**
   * New buckets that have no view yet. They are also synced as soon as they fill a call. Most are asked for only once,
   * and so are dropped before the garbage collector has moved them.
   */
  readonly #fresh: DueBuckets;
  /** When they last became enough for that. */
  #fullTicks = 0;
  /** Buckets that requests wait for. */
  readonly #awaited = new Set<LeasedBucket>();
  /** True if the last call left out some that were due or awaited. */
  #isBehind = false;
  /** The latest TAT of all views. */
  #latestTatTicks: number = -Infinity;
  #sequence: number;
  #answeredSequence = 0;
  #answeredSentTicks = -Infinity;
  #answeredAtTicks = -Infinity;
  #lossSequence = 0;
  #sentTicks: number = -Infinity;
  #sent: SentCall | undefined;
  /** True between the sending of a call and its end. */
  #isInFlight = false;
  #retryTicks = 0;
  #failures = 0;
  #calmUntilTicks = -Infinity;
  #serverAheadTicks: number | undefined;
  /** How long the shorter one of the last two calls took, because one may be late by chance; 0 before the first answer. */
  roundTripTicks = 0;
  #lastTookTicks = Infinity;

  /**
   * @param key - The Redis key of the stream, in the same slot as its buckets.
   * @param syncTicks - The longest time between two syncs of a bucket in use.
   * @param pace - The part of the time between syncs that this process uses, above 0, at most 1. Processes with the same one
   * would sync in the same order again and again, and the first would get all tokens.
   * @param lastSequence - The highest number that a sync under this key may have had before.
   */
  constructor(key: string, syncTicks: number, pace: number, lastSequence = 0) {
    this.key = key;
    this.#sequence = lastSequence;
    this.#syncTicks = syncTicks;
    this.#due = new DueBuckets(pace);
    this.#fresh = new DueBuckets(pace);
  }

  /** The clock of Redis minus that of the process, at most. Undefined before the first answer. */
  get serverAheadTicks(): number | undefined {
    return this.#serverAheadTicks;
  }

  /** When the last call that was answered had been sent; −Infinity before the first answer. */
  get answeredSentTicks(): number {
    return this.#answeredSentTicks;
  }

  /** When the last answer came; −Infinity before the first one. */
  get answeredAtTicks(): number {
    return this.#answeredAtTicks;
  }

  /** The number of the last sync. */
  get sequence(): number {
    return this.#sequence;
  }

  /** Whether nothing is lost when the stream is dropped: it has no bucket, so no charge to report and no view to restore. */
  isAtRest(nowTicks: number): boolean {
    return this.buckets.length === 0 && this.#sent === undefined && nowTicks >= this.#sentTicks + KEEP_ALIVE_TICKS;
  }

  /** When the next call is to be made, by the clock of the process; Infinity while a call is in flight, or none is needed. */
  get nextTicks(): number {
    if (this.#isInFlight) return Infinity;
    if (this.#sent !== undefined) return this.#retryTicks;
    const freshTicks = this.#fillsCall ? this.#fullTicks : this.#fresh.nextTicks;
    const wanted = this.#awaited.size > 0 ? -Infinity : Math.min(this.#due.nextTicks, freshTicks);
    const idle = this.buckets.length > 0 && this.#answeredSequence > 0 ? this.#sentTicks + KEEP_ALIVE_TICKS : Infinity;
    const earliest = this.#isBehind ? -Infinity : this.#sentTicks + MIN_SYNC_GAP_TICKS;
    return Math.min(Math.max(wanted, earliest), idle);
  }

  request(bucket: LeasedBucket, nowTicks: number): void {
    if (bucket.isPending) {
      if (bucket.reportsSoon(nowTicks)) this.#listOf(bucket).hasten(bucket, nowTicks);
      return;
    }
    bucket.isFresh = bucket.isNew && bucket.viewSequence === 0;
    this.#listOf(bucket).add(bucket, nowTicks);
    if (bucket.isFresh && this.#fresh.size === MOST_BUCKETS) this.#fullTicks = nowTicks;
  }

  requestEarly(bucket: LeasedBucket, nowTicks: number): void {
    this.request(bucket, nowTicks);
    this.#awaited.add(bucket);
    bucket.waiting++;
  }

  endWait(bucket: LeasedBucket): void {
    bucket.waiting--;
    if (bucket.waiting === 0) this.#awaited.delete(bucket);
  }

  /** Returns the call to make now, of buckets that are awaited or due. Undefined if there is nothing to report. */
  nextCall(nowTicks: number): SyncCall | undefined {
    if (nowTicks < this.nextTicks) return undefined;
    const sending = this.#sending(nowTicks);
    const retried = this.#sent?.buckets.map((sent) => retriedEntry(sent, sending));
    const buckets = retried ?? this.#take(sending);
    if (retried === undefined) {
      if (buckets.length === 0 && !this.#needsKeepAlive(nowTicks)) return undefined;
      this.#sequence++;
    }
    const call = this.#callWith(buckets, nowTicks);
    this.#sent = { call, buckets, sentTicks: nowTicks };
    this.#sentTicks = nowTicks;
    this.#isInFlight = true;
    return call;
  }

  /** Applies the answer to a call. Ignores that to a call which has failed before. */
  answered(call: SyncCall, reply: SyncReply, nowTicks: number): void {
    const sent = this.#sent;
    if (sent?.call !== call || !this.#isInFlight) return;
    this.#sent = undefined;
    this.#isInFlight = false;
    this.#answeredSequence = call.sequence;
    this.#answeredSentTicks = sent.sentTicks;
    this.#answeredAtTicks = nowTicks;
    this.#serverAheadTicks = reply.nowTicks - nowTicks;
    const tookTicks = nowTicks - sent.sentTicks;
    this.roundTripTicks = Math.min(tookTicks, this.#lastTookTicks);
    this.#lastTookTicks = tookTicks;
    this.#failures = 0;
    if (this.isOpen || this.isMoving) this.#close(nowTicks);
    if (reply.lost) this.#lossSequence = call.sequence;
    const answer = {
      nowTicks,
      sentTicks: sent.sentTicks,
      serverTicks: reply.nowTicks,
      sequence: call.sequence,
      isInTime: reply.nowTicks <= call.latestTicks,
    };
    for (let i = 0; i < sent.buckets.length; i++) {
      const each = sent.buckets[i]!;
      applyAnswer(each, reply.buckets[i]!, answer);
      this.#latestTatTicks = Math.max(this.#latestTatTicks, each.bucket.tatTicks);
      if (!each.bucket.leases.isEmpty || !each.bucket.uncharged.isEmpty) this.request(each.bucket, nowTicks);
      else if (isOneTimer(each, nowTicks)) this.onRest(each.bucket);
    }
  }

  /** Reports that a call has failed or was not answered in time. It is repeated. */
  failed(call: SyncCall, nowTicks: number): void {
    if (this.#sent?.call !== call || !this.#isInFlight) return;
    this.#isInFlight = false;
    this.#failures++;
    if (this.#failures >= FAILURES_TO_OPEN && !this.isOpen) {
      this.isOpen = true;
      this.isMoving = false;
      this.openSinceTicks = nowTicks;
    }
    this.#retryTicks = nowTicks + (this.isOpen ? TRIAL_GAP_TICKS : MIN_SYNC_GAP_TICKS);
  }

  /**
   * Reports that Redis has rejected a call, because the slot of its keys is being moved. It is repeated until they are on one
   * node again. Until then Redis decides the buckets one by one; what was let through before remains uncharged.
   */
  moving(call: SyncCall, nowTicks: number): void {
    if (this.#sent?.call !== call || !this.#isInFlight) return;
    this.#isInFlight = false;
    this.#failures = 0;
    this.isOpen = false;
    this.isMoving = true;
    this.#retryTicks = nowTicks + TRIAL_GAP_TICKS;
  }

  /** Makes calls due now that report all charges and give back all leases, before the process ends. */
  requestLast(nowTicks: number): void {
    this.#sentTicks = -Infinity;
    for (const bucket of this.buckets) {
      bucket.leases.dropAll(nowTicks);
      bucket.askedTokens = 0;
      bucket.demandTokens = 0;
      this.#listOf(bucket).remove(bucket);
      if (bucket.uncharged.isEmpty && !bucket.leases.hasLapsed) continue;
      this.#due.addAt(bucket, nowTicks);
    }
  }

  /** What other processes spent in an outage they report within two sync times. Nothing is leased before. */
  #close(nowTicks: number): void {
    this.isOpen = false;
    this.isMoving = false;
    this.#calmUntilTicks = nowTicks + 2 * this.#syncTicks;
  }

  #sending(nowTicks: number): Sending {
    return {
      nowTicks,
      lossSequence: this.#lossSequence,
      canLease: this.#serverAheadTicks !== undefined,
      roundTripTicks: this.roundTripTicks,
      calmUntilTicks: this.#calmUntilTicks,
    };
  }

  /** Takes the entries of buckets that are awaited or due, as many as one call may have. */
  #take(sending: Sending): SentBucket[] {
    const { nowTicks } = sending;
    const taken: SentBucket[] = [];
    for (const bucket of this.#awaited) {
      if (taken.length === MOST_BUCKETS) break;
      this.#awaited.delete(bucket);
      const isDue = bucket.isPending && bucket.dueTicks <= nowTicks;
      this.#listOf(bucket).remove(bucket);
      prepare(bucket, isDue, nowTicks);
      taken.push(takeEntry(bucket, sending));
    }
    const freshUntilTicks = this.#fillsCall ? Infinity : nowTicks;
    for (let looks = 0; looks < MOST_LOOKS && taken.length < MOST_BUCKETS; looks++) {
      const bucket = this.#due.take(nowTicks) ?? this.#fresh.take(freshUntilTicks);
      if (bucket === undefined) break;
      prepare(bucket, bucket.dueTicks <= nowTicks, nowTicks);
      if (needsSync(bucket, sending)) taken.push(takeEntry(bucket, sending));
      else if (!bucket.leases.isEmpty) this.#due.add(bucket, nowTicks);
    }
    const nextTicks = this.#fillsCall ? -Infinity : Math.min(this.#due.nextTicks, this.#fresh.nextTicks);
    this.#isBehind = this.#awaited.size > 0 || nextTicks <= nowTicks;
    return taken;
  }

  get #fillsCall(): boolean {
    return this.#fresh.size >= MOST_BUCKETS;
  }

  #listOf({ isFresh }: LeasedBucket): DueBuckets {
    return isFresh ? this.#fresh : this.#due;
  }

  #needsKeepAlive(nowTicks: number): boolean {
    if (nowTicks < this.#sentTicks + KEEP_ALIVE_TICKS || this.#answeredSequence === 0) return false;
    // If nothing is at stake, the next look is as late as if a call had been made.
    this.#sentTicks = nowTicks;
    return this.#latestTatTicks > nowTicks;
  }

  #callWith(buckets: readonly SentBucket[], nowTicks: number): SyncCall {
    const isSure = nowTicks - this.#answeredSentTicks <= SURE_LIFE_TICKS;
    return {
      stream: this.key,
      sequence: this.#sequence,
      answeredSequence: isSure ? this.#answeredSequence : 0,
      streamLifeMs: STREAM_LIFE_MS,
      latestTicks: this.#serverAheadTicks === undefined ? 0 : nowTicks + this.#serverAheadTicks + WANT_LIFE_TICKS,
      entries: buckets,
    };
  }
}

/** Brings a bucket up to date before it is sent. */
function prepare(bucket: LeasedBucket, isDue: boolean, nowTicks: number): void {
  if (nowTicks >= bucket.leases.nextLapseTicks) bucket.leases.dropLapsed(nowTicks);
  if (isDue) updateDemand(bucket, nowTicks);
}
