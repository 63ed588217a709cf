// The room ids: the formats of ids and their canonical text.
import { complaint, type SluiceError } from '../checks/errors.ts';

/**
 * An id format: converts text to a canonical id or rejects it. Implement it to add a format, and pass it to `by`.
 */
export interface IdFormat {
  /** The format's name in error messages and limit files: `ipAddress`, `accountId`, … */
  readonly name: string;
  /**
   * Returns the canonical spelling of an id, so that two spellings of one id share a bucket. A text of more than 4,096
   * characters is rejected with `ERR_ID`: return a digest of long ones.
   *
   * @throws {SluiceError} `ERR_ID` when the text is not valid in this format.
   */
  canonical(text: string): string;
  /**
   * For formats whose ids are IP addresses or networks in the spelling of RFC 5952: the number of bits of an address in
   * an id, omitted for a family without ids. An override may then list a wider network, such as `10.20.0.0/16`, for all
   * ids in it.
   */
  readonly prefixLengths?: { readonly ipv4?: number | undefined; readonly ipv6?: number | undefined } | undefined;
  /**
   * For formats whose ids are parts with `:` between them, as those of `compound`: returns the canonical spelling of the
   * first parts of an id if a text is not more than that, and undefined for a text with all parts. An override may then
   * list the first parts, such as an account, for all ids that begin with them.
   *
   * @throws {SluiceError} `ERR_ID` when a part is not valid.
   */
  readonly firstParts?: ((text: string) => string | undefined) | undefined;
}

/**
 * The most characters of an id. Texts of more than 16,383 characters that are equally long have one hash in V8, so that a
 * client could turn maps of ids into lists.
 */
export const MAX_ID_LENGTH = 4096;

/**
 * Rejects a value that a key or an id format returned instead of text, and an id that is too long. Otherwise unrelated
 * clients would share the bucket of `undefined` or of an empty id.
 *
 * @throws {SluiceError} `ERR_ID`.
 */
export function checkId(limit: string, id: unknown): void {
  if (typeof id !== 'string' || id === '') throw badId(limit, id);
  if (id.length > MAX_ID_LENGTH) throw longId(limit, id);
}

// Errors are created in functions of their own: V8 inlines the short caller.
function badId(limit: string, value: unknown): SluiceError {
  return complaint('ERR_ID', {
    option: 'id',
    limit,
    demand: 'text that is not empty',
    value,
    remedy: 'This is what canonical() of the id format of its key returned: it must return a string, not a promise.',
  });
}

function longId(limit: string, id: string): SluiceError {
  return complaint('ERR_ID', {
    option: 'id',
    limit,
    demand: `at most ${MAX_ID_LENGTH} characters long`,
    value: id,
    remedy: 'Shorten or hash it in canonical() of its id format.',
    status: 400,
  });
}
