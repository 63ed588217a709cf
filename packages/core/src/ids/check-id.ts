import { complaint, type SluiceError } from '../checks/errors.ts';

/**
 * Rejects a value that a key or an id format returned instead of text. Otherwise unrelated clients would share the
 * bucket of `undefined` or of an empty id.
 *
 * @throws {SluiceError} `ERR_ID`.
 */
export function checkId(limit: string, id: unknown): void {
  if (typeof id !== 'string' || id === '') throw badId(limit, id);
}

// Errors are created in functions of their own: see docs/hot-path.md.
function badId(limit: string, value: unknown): SluiceError {
  return complaint('ERR_ID', {
    option: 'id',
    limit,
    demand: 'text that is not empty',
    value,
    remedy: 'This is what canonical() of the id format of its key returned: it must return a string, not a promise.',
  });
}
