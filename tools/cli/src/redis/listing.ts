import type { Time } from '@sluice/core';
import type { StoreBucket } from '@sluice/core/store';
import { bucketKey } from '@sluice/core/store';
import { redisKey } from '@sluice/redis';
import type { Client } from './client.ts';
import type { KeyOptions } from './options.ts';
import { scannedKeys } from './scan.ts';
import { tableKeys, type TableAddress } from './table-keys.ts';

/** About how many keys are looked at in one step, which takes a server well below a millisecond. */
export const KEYS_OF_A_STEP = 200;

/** How the buckets of a store are found. */
export interface Listing {
  /** What all its keys begin with. */
  readonly prefix: string;
  /** Returns the key that the store gives a bucket. */
  readonly keyOf: (bucket: StoreBucket) => string;
  /**
   * Lists the keys of a limit, or of all limits, in small steps. After each step it waits for as long as the step took, so that
   * it uses at most half of the time of a server. A key may be listed more than once, and a step may list none.
   *
   * @throws {CommandError} If a server does not answer, or does not permit it.
   */
  keys(limit: string | undefined, time: Time): AsyncIterable<readonly string[]>;
}

export function redisListing(client: Client, keyOptions: KeyOptions): Listing {
  return {
    prefix: keyOptions.prefix ?? 'sluice:',
    keyOf: (bucket) => redisKey(bucket, keyOptions).key,
    keys: (limit, time) => scannedKeys(client, { pattern: patternOf(limit, keyOptions), time, count: KEYS_OF_A_STEP }),
  };
}

export function tableListing(address: TableAddress): Listing {
  return {
    prefix: '',
    keyOf: ({ limit, id, slots, calendar = slots === true ? 'slots' : undefined }) => bucketKey(limit, id, calendar),
    keys: (limit, time) => tableKeys(address, { limit, time, count: KEYS_OF_A_STEP }),
  };
}

/** Returns the pattern of the keys of a limit, or of all limits. */
function patternOf(limit: string | undefined, { prefix = 'sluice:', hashTag }: KeyOptions): string {
  if (limit === undefined) return `${prefix}*`;
  return hashTag === undefined || hashTag === 'id' ? `${prefix}${limit}:*` : `${prefix}*${limit}:*`;
}
