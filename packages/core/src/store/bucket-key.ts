import { sha256 } from '../hash/sha-256.ts';
import type { BucketName } from './store.ts';

const PLAIN_ID = /^[A-Za-z0-9._-]*$/;
const MAX_KEY_BYTES = 200;

/**
 * Combines a limit's name and an id into one string, `limit:id`, for stores that need a single key. No two pairs have
 * the same key.
 *
 * `[A-Za-z0-9._-]` in the id are kept, and every other byte of its UTF-8 form is percent-encoded. An id can therefore
 * not contain a separator, or the `{` by which it would choose its own slot in a Redis Cluster. A key of more than 200
 * bytes becomes `limit:#` and the SHA-256 of the id in hexadecimal; no encoded id starts with `#`.
 *
 * @param limit - The name of a limit, `[A-Za-z][A-Za-z0-9_.-]*`.
 * @param id - A canonical id, well-formed Unicode.
 * @param calendar - The calendar of a bucket with a period. It is appended after an `@`, which no other key contains.
 */
export function bucketKey(limit: string, id: string, calendar?: string): string {
  const key = keyWithout(limit, id);
  return calendar === undefined ? key : `${key}@${calendar}`;
}

function keyWithout(limit: string, id: string): string {
  const key = `${limit}:${PLAIN_ID.test(id) ? id : escaped(id)}`;
  return key.length <= MAX_KEY_BYTES ? key : `${limit}:#${sha256(id)}`;
}

/**
 * Returns a text for a bucket that no other bucket has, for maps in this process. It is not escaped like
 * {@link bucketKey}: the name of a limit contains no colon.
 */
export function mapKeyOf({ limit, id }: BucketName): string {
  return `${limit}:${id}`;
}

// encodeURIComponent keeps A-Z a-z 0-9 - _ . ! ~ * ' ( ); the last six of these are encoded here.
function escaped(id: string): string {
  return encodeURIComponent(id).replace(
    /[!~*'()]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
