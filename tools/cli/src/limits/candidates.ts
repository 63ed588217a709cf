import { SluiceError, type Time } from '@sluice/core';
import { bucketsToReset, type Limit } from '@sluice/core/kit';
import type { BucketName } from '@sluice/core/store';
import { KEYS_OF_A_STEP, type Listing } from '../redis/listing.ts';
import { isInProcess } from './limit-kind.ts';

/** The buckets of one step. */
export interface NamedBuckets {
  /** How many keys were looked at. */
  readonly keys: number;
  readonly buckets: readonly BucketName[];
  /** Buckets whose id is too long to be in their key. */
  readonly longIds: number;
}

/** Which buckets to find. */
interface Wanted {
  readonly limits: ReadonlyMap<string, Limit>;
  /** The name of the only limit; undefined for all. */
  readonly only: string | undefined;
  readonly time: Time;
}

/** Finds the buckets that a store lists. */
export async function* bucketsOfListing(
  listing: Listing,
  { limits, only, time }: Wanted,
): AsyncGenerator<NamedBuckets> {
  for await (const keys of listing.keys(only, time)) {
    const contents = await Promise.all(keys.map((key) => bucketOfKey(key, limits, listing)));
    const named = contents.filter((content) => typeof content !== 'string');
    yield {
      keys: keys.length,
      buckets: named.filter(({ limit }) => only === undefined || limit === only),
      longIds: contents.filter((content) => content === 'long id').length,
    };
  }
}

/** What a key can be: the bucket of an id, a bucket whose id is too long to be in its key, or something else. */
type KeyContent = BucketName | 'long id' | 'other';

/** `limit:id`, `{tag}:limit:id` or `limit:{id}`, after the prefix, and the calendar of a quota or `@slots`. */
const BUCKET = /^(?:\{[^{}]*\}:)?(?<limit>[A-Za-z][\w.-]*):\{?(?<id>#?[\w.%-]+)\}?(?:@.*)?$/;

/**
 * Returns the bucket that has a key. A key counts only if the store gives the bucket this key: not one of another prefix
 * or hash tag, of an earlier calendar, or of the ceiling of a limit that borrows.
 */
async function bucketOfKey(
  key: string,
  limits: ReadonlyMap<string, Limit>,
  { prefix, keyOf }: Listing,
): Promise<KeyContent> {
  const { limit = '', id: escaped = '' } = BUCKET.exec(key.slice(prefix.length))?.groups ?? {};
  if (!limits.has(limit)) return 'other';
  if (escaped.startsWith('#')) return 'long id';
  try {
    const bucket = { limit, id: decodeURIComponent(escaped) };
    const own = await bucketsToReset({ limits }, [bucket]);
    return keyOf(own[0]!) === key ? bucket : 'other';
  } catch {
    // An id that the limit does not accept, or another program's key.
    return 'other';
  }
}

/** Names the buckets of ids, in steps with pauses as those of a listing. A limit has none of an id that it does not accept. */
export async function* bucketsOfIds({
  ids,
  limits,
  only,
  time,
}: Wanted & { readonly ids: readonly string[] }): AsyncGenerator<NamedBuckets> {
  const stored = [...limits.values()].filter((limit) => !isInProcess(limit) && (only ?? limit.name) === limit.name);
  for (const limit of stored) {
    for (let start = 0; start < ids.length; start += KEYS_OF_A_STEP) {
      const startMicros = time.nowMicros();
      const accepted = ids.slice(start, start + KEYS_OF_A_STEP).filter((id) => isAccepted(limit, id));
      yield { keys: accepted.length, buckets: accepted.map((id) => ({ limit: limit.name, id })), longIds: 0 };
      const tookMs = (time.nowMicros() - startMicros) / 1000;
      // oxlint-disable-next-line no-await-in-loop -- one step after the other
      await new Promise<void>((resolve) => time.alarm(Math.max(1, tookMs), resolve));
    }
  }
}

function isAccepted({ key }: Limit, id: string): boolean {
  try {
    key.format.canonical(id);
    return true;
  } catch (error) {
    if (error instanceof SluiceError) return false;
    throw error;
  }
}
