/**
 * What decides by leases: the code of a process, and sync.lua with the encoding of its calls. If they move, only this file
 * changes.
 *
 * @module
 */
import {
  LeasedBucket,
  type BucketStream,
  type LeaseTerms,
} from '../../../packages/redis/src/leases/rules/leased-bucket.ts';
import type { SyncCall, SyncEntry, SyncReply } from '../../../packages/redis/src/leases/rules/sync-call.ts';
import { decodeSync, encodeSync } from '../../../packages/redis/src/leases/sync-script.ts';
import { sourceText } from '../engine/source.ts';
import { bucketText } from '../lua/bucket-text.ts';
import { RedisData, script } from '../lua/redis.ts';
import { tatIn } from './stores.ts';

export { BucketLeases } from '../../../packages/redis/src/leases/rules/bucket-leases.ts';
export { Lease, Spent } from '../../../packages/redis/src/leases/rules/lease.ts';
export { Uncharged } from '../../../packages/redis/src/leases/rules/uncharged.ts';
export { isLeased, leaseNumbers } from '../../../packages/redis/src/leases/rules/lease-numbers.ts';
export { DENIES, EXACT as LEFT_TO_REDIS, FITS, WAITS } from '../../../packages/redis/src/leases/rules/leased-bucket.ts';
export type { LeaseTerms } from '../../../packages/redis/src/leases/rules/leased-bucket.ts';

const SYNC = script(sourceText('packages/redis/lua/sync.lua'));
const STREAM = 'stream';
const NEVER = 2 ** 53;

/** A Redis with one leased bucket, and one process that syncs. */
export class SyncedRedis {
  readonly #redis = new RedisData();
  #micros = 0;

  setTime(micros: number): void {
    this.#micros = micros;
    this.#redis.nowMicros = micros;
  }

  get nowTicks(): number {
    return 16 * this.#micros;
  }

  put(tat: number, writtenLevel: number): void {
    this.#redis.keys.set('bucket', { value: bucketText(tat, writtenLevel) });
  }

  /** The number of the last sync that this Redis remembers. */
  remember(sequence: number): void {
    this.#redis.keys.set(STREAM, { value: sequence });
  }

  /** The TAT of the bucket; undefined without a key. */
  get tat(): number | undefined {
    const written = this.#redis.keys.get('bucket');
    return written === undefined ? undefined : tatIn(written.value);
  }

  get lifeMs(): number | undefined {
    return this.#redis.keys.get('bucket')?.lifeMs as number | undefined;
  }

  sync(
    call: Pick<SyncCall, 'sequence' | 'answeredSequence' | 'latestTicks'>,
    entry: Omit<SyncEntry, 'key'>,
  ): SyncReply {
    const whole = { ...call, stream: STREAM, streamLifeMs: 600_000, entries: [{ ...entry, key: 'bucket' }] };
    const { keys, args } = encodeSync(whole);
    const reply = this.#redis.run(SYNC, keys, [NEVER, ...args]).map((value) => value ?? null);
    return decodeSync(whole, reply.slice(1));
  }
}

const STREAM_OF_BUCKET: BucketStream = {
  isOpen: false,
  openSinceTicks: 0,
  isMoving: false,
  answeredAtTicks: 0,
  nextTicks: 0,
  roundTripTicks: 0,
  serverAheadTicks: 0,
  request: () => undefined,
  requestEarly: () => undefined,
  endWait: () => undefined,
};

/** A bucket as one process sees it. */
export function leasedBucket(terms: LeaseTerms): LeasedBucket {
  return new LeasedBucket({ limit: 'Limit', id: 'id', key: 'bucket' }, STREAM_OF_BUCKET, terms);
}
