// A bucket with leases and a stream, and answers of Redis as a test wants them.
import { leaseNumbers, type LeaseNumbers } from '../../../src/leases/rules/lease-numbers.ts';
import { LeasedBucket, type LeaseTerms } from '../../../src/leases/rules/leased-bucket.ts';
import { LeaseStream } from '../../../src/leases/rules/lease-stream.ts';
import type { SyncCall, SyncedBucket, SyncReply } from '../../../src/leases/rules/sync-call.ts';

export const TICKS_PER_MS = 16_000;
/** T: 100 per second. */
export const TOKEN = 10 * TICKS_PER_MS;
export const SYNC = 200 * TICKS_PER_MS;
/** The clock of Redis minus that of the process. */
export const SERVER_AHEAD = 1e12;

/** 100 per second, burst 200, overdraft 7, leases of 60 ms, two processes. */
export const TERMS: LeaseTerms = {
  ...(leaseNumbers({
    burst: 200,
    intervalTicks: TOKEN,
    overshoot: 0.1,
    gateways: 2,
    syncTicks: SYNC,
  }) as LeaseNumbers),
  waits: true,
  onFailure: 'closed',
};

export function makeStream(): LeaseStream {
  return new LeaseStream('seq:test:0', SYNC, 1);
}

/** A bucket outside of a cluster, with its id as its key. */
export function named(id: string, tag = '') {
  return { limit: 'Calls', id, key: id, tag };
}

export function addBucket(stream: LeaseStream, key = 'bucket', terms: Partial<LeaseTerms> = {}): LeasedBucket {
  const bucket = new LeasedBucket(named(key), stream, { ...TERMS, ...terms });
  stream.buckets.push(bucket);
  return bucket;
}

/** The next call, at its time. At some times the stream finds nothing to report. */
export function nextCall(stream: LeaseStream): { readonly call: SyncCall; readonly atTicks: number } {
  for (let tries = 0; tries < 10; tries++) {
    const atTicks = stream.nextTicks;
    const call = stream.nextCall(atTicks);
    if (call !== undefined) return { call, atTicks };
  }
  throw new Error(`no call up to ${stream.nextTicks}`);
}

/** Answers with the same for each bucket. */
export function answer(
  stream: LeaseStream,
  call: SyncCall,
  nowTicks: number,
  {
    lost = false,
    fresh = true,
    ...synced
  }: Partial<SyncedBucket> & { readonly lost?: boolean; readonly fresh?: boolean } = {},
): void {
  const bucket = { levelTicks: 0, keptFloor: true, grantedTokens: 0, ...synced };
  const reply: SyncReply = {
    nowTicks: nowTicks + SERVER_AHEAD,
    fresh,
    lost,
    buckets: call.entries.map(() => bucket),
  };
  stream.answered(call, reply, nowTicks);
}

/** A bucket that was synced once, at 1 s. */
export function syncedBucket(terms: Partial<LeaseTerms> = {}, synced: Partial<SyncedBucket> = {}) {
  const stream = makeStream();
  const bucket = addBucket(stream, 'bucket', terms);
  bucket.touch(1000 * TICKS_PER_MS);
  const { call, atTicks } = nextCall(stream);
  answer(stream, call, atTicks, synced);
  return { stream, bucket, nowTicks: atTicks };
}

/** Waits for `tokens`, and gets them leased. Returns the moment of the answer. */
export function leased(stream: LeaseStream, bucket: LeasedBucket, tokens: number, nowTicks: number): number {
  bucket.waitingTokens = tokens;
  stream.requestEarly(bucket, nowTicks);
  const { call, atTicks } = nextCall(stream);
  bucket.waitingTokens = 0;
  stream.endWait(bucket);
  answer(stream, call, atTicks, { grantedTokens: tokens, levelTicks: tokens * TOKEN });
  return atTicks;
}

/** Spends the whole overdraft of a bucket, one token at a time. */
export function overdraw(bucket: LeasedBucket, nowTicks: number): void {
  for (let i = 0; i < TERMS.overdraftTokens; i++) {
    bucket.look(1, nowTicks);
    bucket.spend(1, nowTicks);
  }
}
