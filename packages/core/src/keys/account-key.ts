import type { Awaitable } from '../async/awaitable.ts';
import { accountIdFormat, type AccountIdOptions } from '../ids/account-id.ts';
import { keyFrom, type IdValue, type Key } from './key.ts';

/**
 * Limits accounts: your function returns the account of a request. Run the limiter after authentication.
 *
 *     accountId((req: Request) => req.user?.id ?? null)
 *
 * @param from - Returns a string, a safe integer, a bigint, or a promise of one; `null` if the limit does not apply to
 * the request. Omit it if the limit is used only with `limiter.spend`.
 * @throws {SluiceError} `ERR_KEY` when `from` is not a function, `ERR_OPTION` or `ERR_UNKNOWN_OPTION` for wrong
 * options.
 */
export function accountId<Request = unknown>(
  from?: (request: Request) => Awaitable<IdValue>,
  options?: AccountIdOptions,
): Key<Request> {
  return keyFrom(accountIdFormat(options), from);
}
