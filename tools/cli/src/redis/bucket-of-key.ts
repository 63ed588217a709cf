import { bucketsToReset, type Limit } from '@sluice/core/kit';
import type { BucketName } from '@sluice/core/store';
import { redisKey } from '@sluice/redis';
import type { KeyOptions } from './options.ts';

/** What a key can be: the bucket of an id, a bucket whose id is too long to be in its key, or something else. */
export type KeyContent = BucketName | 'long id' | 'other';

/** `limit:id`, `{tag}:limit:id` or `limit:{id}`, after the prefix, and the calendar of a quota or `@slots`. */
const BUCKET = /^(?:\{[^{}]*\}:)?(?<limit>[A-Za-z][\w.-]*):\{?(?<id>#?[\w.%-]+)\}?(?:@.*)?$/;

/**
 * Returns the bucket that has a key. A key counts only if the store gives the bucket this key: not one of another prefix
 * or hash tag, of an earlier calendar, or of the ceiling of a limit that borrows.
 */
export async function bucketOfKey(
  key: string,
  limits: ReadonlyMap<string, Limit>,
  keyOptions: KeyOptions,
): Promise<KeyContent> {
  const { prefix = 'sluice:' } = keyOptions;
  const { limit = '', id: escaped = '' } = BUCKET.exec(key.slice(prefix.length))?.groups ?? {};
  if (!limits.has(limit)) return 'other';
  if (escaped.startsWith('#')) return 'long id';
  try {
    const bucket = { limit, id: decodeURIComponent(escaped) };
    const own = await bucketsToReset({ limits }, [bucket]);
    return redisKey(own[0]!, keyOptions).key === key ? bucket : 'other';
  } catch {
    // An id that the limit does not accept, or another program's key.
    return 'other';
  }
}

/** Returns the pattern of the keys of a limit, or of all limits. */
export function patternOf(limit: string | undefined, { prefix = 'sluice:', hashTag }: KeyOptions): string {
  if (limit === undefined) return `${prefix}*`;
  return hashTag === undefined || hashTag === 'id' ? `${prefix}${limit}:*` : `${prefix}*${limit}:*`;
}
