import { bucketKey, SluiceError, type BucketName } from '@sluice/core';
import { complaint, isInstance, reasonOf } from '@sluice/core/kit';

/**
 * Which buckets share a hash slot of a Redis Cluster, so that one script call can decide them together.
 *
 * - `'id'`: all buckets of one id.
 * - any other text: all buckets there are, on one node. See the README before you choose that.
 * - a function: those for which it gives the same text. `undefined` leaves a bucket where it falls.
 */
export type HashTag = 'id' | (string & {}) | TagOf;

type TagOf = (bucket: BucketName) => string | undefined;

/** How the keys of buckets are written. */
export interface BucketKeysOptions {
  readonly prefix: string;
  readonly hashTag: HashTag | undefined;
}

/**
 * Writes the keys of buckets: `prefix limit:id`, and with a hash tag `prefix {tag}:limit:id`, or `prefix limit:{id}`
 * where the id itself is the tag. Ids and tags are escaped like the ids of {@link bucketKey}, so that none of them can
 * bring a brace, and choose a slot or end a tag.
 */
export class BucketKeys {
  readonly #prefix: string;
  readonly #tagOf: TagOf | undefined;
  readonly #tagsIds: boolean;

  constructor({ prefix, hashTag }: BucketKeysOptions) {
    const isFixed = typeof hashTag === 'string' && hashTag !== 'id';
    this.#prefix = isFixed ? `${prefix}{${escaped(hashTag)}}:` : prefix;
    this.#tagOf = typeof hashTag === 'function' ? hashTag : undefined;
    this.#tagsIds = hashTag === 'id';
  }

  /** The key of no bucket: no limit has an empty name. */
  get ofNone(): string {
    return `${this.#prefix}:`;
  }

  /**
   * @throws {SluiceError} `ERR_ID` for an id that is no well-formed text, `ERR_OPTION` for a tag that is no text, or
   * when the function of the tags throws.
   */
  keyOf(bucket: BucketName): string {
    if (this.#tagsIds) return `${this.#prefix}${bucket.limit}:{${escaped(bucket.id, bucket.limit)}}`;
    const key = keyIn(bucket);
    if (this.#tagOf === undefined) return this.#prefix + key;
    const tag = tagOf(this.#tagOf, bucket);
    return tag === undefined ? this.#prefix + key : `${this.#prefix}{${escaped(tag)}}:${key}`;
  }
}

// Of a text that is not well-formed there is no UTF-8. It may come from a client, and is no failure of the store.
function keyIn({ limit, id }: BucketName, said = limit): string {
  try {
    return bucketKey(limit, id);
  } catch (cause) {
    const message = `An id of limit "${said}" contains a lone surrogate, which is not valid text. Make its id format reject such ids.`;
    throw new SluiceError('ERR_ID', message, { status: 400, cause });
  }
}

// With no limit's name the bucket key is ':' and the escaped id. Of one id it is the same for limits of any name.
function escaped(id: string, limit = ''): string {
  return keyIn({ limit: '', id }, limit).slice(1);
}

// What the user's function does wrong is wrong use: it must not be taken for an outage of Redis.
function tagOf(hashTag: TagOf, bucket: BucketName): string | undefined {
  try {
    const tag: unknown = hashTag(bucket);
    return tag === undefined ? undefined : checkedTag(tag);
  } catch (cause) {
    if (isInstance(cause, SluiceError)) throw cause;
    const message = `The function \`hashTag\` threw for a bucket of limit "${bucket.limit}" (${reasonOf(cause)}). ${TAG_REMEDY}`;
    throw new SluiceError('ERR_OPTION', message, { cause });
  }
}

const TAG_REMEDY = 'Return the text that buckets of one slot have in common, or undefined for none.';

function checkedTag(tag: unknown): string {
  if (typeof tag === 'string' && tag !== '' && tag.isWellFormed()) return tag;
  throw complaint('ERR_OPTION', {
    option: 'hashTag',
    demand: 'a function that returns text that is not empty',
    value: tag,
    remedy: TAG_REMEDY,
  });
}
