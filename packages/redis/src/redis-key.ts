import type { StoreBucket } from '@sluice/core/store';
import { BucketKeys } from './batches/bucket-keys.ts';
import { slotOf } from './client/slot.ts';
import { checkSharedOptions, type RedisStoreOptions } from './redis-store.ts';

/** Where a bucket is in Redis. */
export interface RedisKey {
  readonly key: string;
  /** The hash slot of the key in a cluster, from 0 to 16,383. */
  readonly slot: number;
}

/**
 * Returns the key under which a store keeps a bucket, for example to look at it with `redis-cli`.
 *
 * @param bucket - The name of a limit and a canonical id; for a quota also its calendar.
 * @param options - `prefix` and `hashTag` of the store.
 * @throws {SluiceError} `ERR_OPTION` or `ERR_UNKNOWN_OPTION` for wrong options, `ERR_ID` for an id that is not
 * well-formed text.
 */
export function redisKey(bucket: StoreBucket, options: Pick<RedisStoreOptions, 'prefix' | 'hashTag'> = {}): RedisKey {
  const key = new BucketKeys(checkSharedOptions('redisKey', options, [])).keyOf(bucket);
  return { key, slot: slotOf(key) };
}
