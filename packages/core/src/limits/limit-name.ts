import { complaint } from '../checks/errors.ts';

/** The most characters of a limit's name. */
export const MAX_LIMIT_NAME_LENGTH = 64;
/** The pattern of a limit's name. */
export const LIMIT_NAME_PATTERN: RegExp = /^[A-Za-z][A-Za-z0-9_.-]{0,63}$/;

/**
 * Rejects a name that is not valid in header fields and bucket keys.
 *
 * @throws {SluiceError} `ERR_LIMIT`.
 */
export function checkLimitName(option: string, name: unknown): asserts name is string {
  if (typeof name === 'string' && LIMIT_NAME_PATTERN.test(name)) return;
  throw complaint('ERR_LIMIT', {
    option,
    demand: 'a letter followed by letters, digits, `_`, `.` or `-`, at most 64 characters',
    value: name,
    remedy: 'Clients see the name in header fields. For example OrdersPerAccount.',
  });
}
