import {
  applyAnswer,
  needsSync,
  retriedEntry,
  takeEntry,
  updateDemand,
  WANT_LIFE_TICKS,
  type Sending,
  type SentBucket,
} from './bucket-sync.ts';
import { MIN_SYNC_GAP_TICKS } from './lease-numbers.ts';
import type { BucketStream, LeasedBucket } from './leased-bucket.ts';
import type { SyncCall, SyncReply } from './sync-call.ts';

const TICKS_PER_MS = 16_000;
/** The most buckets of one stream: the script takes about 10 µs for each. */
export const MOST_BUCKETS = 250;
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
 * Syncs up to {@link MOST_BUCKETS} buckets with Redis, one call at a time. Each call has a number, which Redis records: a
 * call that is repeated counts once, and a number that Redis has forgotten proves that it has lost data.
 *
 * Without I/O and timers: the caller sends a call when {@link nextTicks} has come, and reports what came of it.
 */
export class LeaseStream implements BucketStream {
  readonly key: string;
  readonly buckets: LeasedBucket[] = [];
  /** True while Redis does not answer. */
  isOpen = false;
  /** When that began. */
  openSinceTicks: number = -Infinity;
  readonly #syncTicks: number;
  readonly #pace: number;
  #pending: LeasedBucket[] = [];
  #dueTicks = Infinity;
  #waitingBuckets = 0;
  #sequence = 0;
  #answeredSequence = 0;
  #answeredSentTicks = -Infinity;
  #lossSequence = 0;
  #sentTicks: number = -Infinity;
  #sent: SentCall | undefined;
  /** True between the sending of a call and its end. */
  #isInFlight = false;
  #retryTicks = 0;
  #failures = 0;
  #calmUntilTicks = -Infinity;
  #serverAheadTicks: number | undefined;

  /**
   * @param key - The Redis key of the stream, in the same slot as its buckets.
   * @param syncTicks - The longest time between two syncs of a bucket in use.
   * @param pace - The part of the time between syncs that this process uses, above 0, at most 1. Processes with the same one
   * would sync in the same order again and again, and the first would get all tokens.
   */
  constructor(key: string, syncTicks: number, pace: number) {
    this.key = key;
    this.#syncTicks = syncTicks;
    this.#pace = pace;
  }

  /** The clock of Redis minus that of the process, at most. Undefined before the first answer. */
  get serverAheadTicks(): number | undefined {
    return this.#serverAheadTicks;
  }

  /** When the last call that was answered had been sent; −Infinity before the first answer. */
  get answeredSentTicks(): number {
    return this.#answeredSentTicks;
  }

  /** When the next call is to be made, by the clock of the process; Infinity while a call is in flight, or none is needed. */
  get nextTicks(): number {
    if (this.#isInFlight) return Infinity;
    if (this.#sent !== undefined) return this.#retryTicks;
    const wanted = this.#waitingBuckets > 0 ? -Infinity : this.#dueTicks;
    const idle = this.buckets.length > 0 && this.#sequence > 0 ? this.#sentTicks + KEEP_ALIVE_TICKS : Infinity;
    return Math.min(Math.max(wanted, this.#sentTicks + MIN_SYNC_GAP_TICKS), idle);
  }

  request(bucket: LeasedBucket, nowTicks: number): void {
    if (bucket.isPending) return;
    bucket.isPending = true;
    this.#pending.push(bucket);
    this.#setDue(bucket, nowTicks);
  }

  requestEarly(bucket: LeasedBucket, nowTicks: number): void {
    this.request(bucket, nowTicks);
    if (bucket.waiting === 0) this.#waitingBuckets++;
    bucket.waiting++;
  }

  endWait(bucket: LeasedBucket): void {
    bucket.waiting--;
    if (bucket.waiting === 0) this.#waitingBuckets--;
  }

  /** Returns the call to make now, of all buckets that are due or waited for. Undefined if there is nothing to report. */
  nextCall(nowTicks: number): SyncCall | undefined {
    if (nowTicks < this.nextTicks) return undefined;
    const sending = this.#sending(nowTicks);
    const retried = this.#sent?.buckets.map((sent) => retriedEntry(sent, sending));
    const buckets = retried ?? this.#takeDue(sending);
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
    this.#serverAheadTicks = reply.nowTicks - nowTicks;
    this.#failures = 0;
    if (this.isOpen) this.#close(nowTicks);
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
      if (!each.bucket.leases.isEmpty || !each.bucket.uncharged.isEmpty) this.request(each.bucket, nowTicks);
    }
  }

  /** Reports that a call has failed or was not answered in time. It is repeated. */
  failed(call: SyncCall, nowTicks: number): void {
    if (this.#sent?.call !== call || !this.#isInFlight) return;
    this.#isInFlight = false;
    this.#failures++;
    if (this.#failures >= FAILURES_TO_OPEN && !this.isOpen) {
      this.isOpen = true;
      this.openSinceTicks = nowTicks;
    }
    this.#retryTicks = nowTicks + (this.isOpen ? TRIAL_GAP_TICKS : MIN_SYNC_GAP_TICKS);
  }

  /** Makes a call due now that reports all charges and gives back all leases, before the process ends. */
  requestLast(nowTicks: number): void {
    this.#sentTicks = -Infinity;
    for (const bucket of this.buckets) {
      bucket.leases.dropAll(nowTicks);
      bucket.askedTokens = 0;
      bucket.demandTokens = 0;
      if (bucket.uncharged.isEmpty && !bucket.leases.hasLapsed) continue;
      this.request(bucket, nowTicks);
      bucket.dueTicks = nowTicks;
      this.#dueTicks = nowTicks;
    }
  }

  /** What other processes spent in an outage they report within two sync times. Nothing is leased before. */
  #close(nowTicks: number): void {
    this.isOpen = false;
    this.#calmUntilTicks = nowTicks + 2 * this.#syncTicks;
  }

  #sending(nowTicks: number): Sending {
    return {
      nowTicks,
      lossSequence: this.#lossSequence,
      canLease: this.#serverAheadTicks !== undefined,
      calmUntilTicks: this.#calmUntilTicks,
    };
  }

  /** Takes the entries of the buckets that are due or waited for; those that have nothing to report leave the list. */
  #takeDue(sending: Sending): SentBucket[] {
    const { nowTicks } = sending;
    const taken: SentBucket[] = [];
    const pending = this.#pending;
    this.#pending = [];
    this.#dueTicks = Infinity;
    for (const bucket of pending) {
      const isDue = bucket.dueTicks <= nowTicks;
      if (nowTicks >= bucket.leases.nextLapseTicks) bucket.leases.dropLapsed(nowTicks);
      if (isDue) updateDemand(bucket);
      const isSent = (isDue || bucket.waiting > 0) && needsSync(bucket, sending);
      if (isSent) taken.push(takeEntry(bucket, sending));
      const isOver = isSent || (isDue && bucket.leases.isEmpty && bucket.waiting === 0);
      bucket.isPending = !isOver;
      if (isOver) continue;
      this.#pending.push(bucket);
      if (isDue) this.#setDue(bucket, nowTicks);
      else this.#dueTicks = Math.min(this.#dueTicks, bucket.dueTicks);
    }
    return taken;
  }

  /** All buckets of a limit are due at the same moments, so that they share a call. */
  #setDue(bucket: LeasedBucket, nowTicks: number): void {
    const dueTicks = Math.floor(this.#pace * bucket.terms.dueTicks);
    bucket.dueTicks = (Math.floor(nowTicks / dueTicks) + 1) * dueTicks;
    this.#dueTicks = Math.min(this.#dueTicks, bucket.dueTicks);
  }

  #needsKeepAlive(nowTicks: number): boolean {
    if (nowTicks < this.#sentTicks + KEEP_ALIVE_TICKS || this.#sequence === 0) return false;
    // If nothing is at stake, the next look is as late as if a call had been made.
    this.#sentTicks = nowTicks;
    return this.buckets.some((bucket) => bucket.tatTicks > nowTicks);
  }

  #callWith(buckets: readonly SentBucket[], nowTicks: number): SyncCall {
    const isSure = nowTicks - this.#answeredSentTicks <= SURE_LIFE_TICKS;
    return {
      stream: this.key,
      sequence: this.#sequence,
      answeredSequence: isSure ? this.#answeredSequence : 0,
      streamLifeMs: STREAM_LIFE_MS,
      latestTicks: this.#serverAheadTicks === undefined ? 0 : nowTicks + this.#serverAheadTicks + WANT_LIFE_TICKS,
      entries: buckets.map(({ entry }) => entry),
    };
  }
}
