import { SluiceError } from '@sluice/core';
import { complaint, isInstance, reasonOf } from '@sluice/core/kit';
import { bucketKey, type BucketName, type StoreBucket } from '@sluice/core/store';

/**
 * Which buckets share a hash slot of a Redis Cluster, so that one script call can decide them together.
 *
 * - `'id'`: all buckets of one id.
 * - Any other text: all buckets of the store. A single node then decides everything; see the README first.
 * - A function of the bucket: all buckets for which it returns the same text. It must be pure, because every process
 *   must find a bucket in the same slot. For `undefined` the slot follows from the whole key.
 */
export type HashTag = 'id' | (string & {}) | TagOf;

type TagOf = (bucket: BucketName) => string | undefined;

/** The options that determine the keys of buckets. */
export interface BucketKeysOptions {
  readonly prefix: string;
  readonly hashTag: HashTag | undefined;
}

/**
 * Creates the keys of buckets: `<prefix><limit>:<id>`; with a hash tag `<prefix>{<tag>}:<limit>:<id>`, or
 * `<prefix><limit>:{<id>}` if the id is the tag. Ids and tags are escaped like the ids of {@link bucketKey}, so that a
 * brace in an id can't end a tag or choose a slot. After an `@` follows the calendar of a bucket with a period, or `slots`
 * for a bucket of slots, which is not the name of any calendar. Neither is part of a tag, so limits of all kinds can have
 * the same tag.
 */
export class BucketKeys {
  readonly #prefix: string;
  readonly #tagOf: TagOf | undefined;
  readonly #tagsIds: boolean;
  readonly #isFixed: boolean;

  constructor({ prefix, hashTag }: BucketKeysOptions) {
    const isFixed = typeof hashTag === 'string' && hashTag !== 'id';
    this.#isFixed = isFixed;
    this.#prefix = isFixed ? `${prefix}{${escaped(hashTag)}}:` : prefix;
    this.#tagOf = typeof hashTag === 'function' ? hashTag : undefined;
    this.#tagsIds = hashTag === 'id';
  }

  /** Whether all buckets are in one hash slot, or the function `hashTag` decides which are. */
  get choosesSlots(): boolean {
    return this.#tagOf !== undefined || this.#isFixed;
  }

  /**
   * The text that the buckets of a hash slot have in common: the result of the function `hashTag`; `''` if all buckets of the
   * store are in one slot. Undefined if the slot follows from the whole key.
   *
   * @throws {SluiceError} As {@link keyOf}.
   */
  tagOf(bucket: BucketName): string | undefined {
    return this.#tagOf === undefined ? '' : tagOf(this.#tagOf, bucket);
  }

  /** A key that no bucket has, in the slot of the buckets with a tag. `''` stands for no tag. */
  streamKey(tag: string, name: string): string {
    return `${this.#prefix}${tag === '' ? '' : `{${escaped(tag)}}:`}:seq:${name}`;
  }

  /** The key of the ids that operators have blocked. No bucket has it. Its hash tag keeps others beside it in its slot. */
  get blocksKey(): string {
    return `${this.#prefix}:{blocks}`;
  }

  /** A key that no bucket has, because a limit never has an empty name. */
  get unusedKey(): string {
    return `${this.#prefix}:`;
  }

  /**
   * @throws {SluiceError} `ERR_ID` if the id is not well-formed text; `ERR_OPTION` if the function `hashTag` throws or
   * returns anything but `undefined` or well-formed text that is not empty.
   */
  keyOf(bucket: StoreBucket): string {
    const { limit, id, calendar = bucket.slots && 'slots' } = bucket;
    const key = this.#tagsIds ? `${this.#prefix}${limit}:{${escaped(id, limit)}}` : this.#withTag(bucket);
    return calendar === undefined ? key : `${key}@${calendar}`;
  }

  #withTag(bucket: BucketName): string {
    const key = keyIn(bucket);
    if (this.#tagOf === undefined) return this.#prefix + key;
    const { limit, id } = bucket;
    const tag = tagOf(this.#tagOf, { limit, id });
    return tag === undefined ? this.#prefix + key : `${this.#prefix}{${escaped(tag)}}:${key}`;
  }
}

// Text with a lone surrogate can't be encoded as UTF-8. It may come from a client, so the error has status 400 and does
// not count as a failure of the store.
function keyIn({ limit, id }: BucketName, shownLimit = limit): string {
  try {
    return bucketKey(limit, id);
  } catch (cause) {
    const message = `An id of limit "${shownLimit}" contains a lone surrogate, which is not valid text. Make its id format reject such ids.`;
    throw new SluiceError('ERR_ID', message, { status: 400, cause });
  }
}

// The key of an empty limit name is ':' and the escaped id. Escaping does not depend on the limit, so that one id has
// the same tag for all limits.
function escaped(id: string, limit = ''): string {
  return keyIn({ limit: '', id }, limit).slice(1);
}

// An error of the user's function becomes ERR_OPTION, because any other error would count as an outage of Redis.
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
