import { createHash } from 'node:crypto';

const PLAIN_ID = /^[A-Za-z0-9._-]*$/;
const MAX_KEY_BYTES = 200;

/**
 * A limit's name and an id in one string that no other pair can give: `limit:id`, for stores that need one.
 *
 * Of the id only `[A-Za-z0-9._-]` stays as it is and every other byte of its UTF-8 is percent-encoded, so no id
 * can bring a separator, or the `{` by which it would choose its own slot in a Redis Cluster. A key of more than
 * 200 bytes becomes `limit:#` and the SHA-256 of the id: no escaped id starts with `#`.
 */
export function bucketKey(limit: string, id: string): string {
  const key = `${limit}:${PLAIN_ID.test(id) ? id : escaped(id)}`;
  return key.length <= MAX_KEY_BYTES ? key : `${limit}:#${createHash('sha256').update(id).digest('hex')}`;
}

// encodeURIComponent keeps A-Z a-z 0-9 - _ . ! ~ * ' ( ); the last six of these are encoded here.
function escaped(id: string): string {
  return encodeURIComponent(id).replace(
    /[!~*'()]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
