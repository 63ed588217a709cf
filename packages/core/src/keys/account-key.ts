import type { Awaitable } from '../async/awaitable.ts';
import { accountIdFormat, type AccountIdOptions } from '../ids/account-id.ts';
import { keyFrom, type IdValue, type Key } from './key.ts';

/**
 * The account that a request belongs to, as your function tells it. Run the limiter after authentication.
 *
 *     accountId((req: Request) => req.user?.id ?? null)
 *
 * @param from - Gives a string, a safe integer, a bigint, or a promise of one; `null` for a request that the limit
 * says nothing about. Left out: the limit is used through `limiter.spend` alone.
 */
export function accountId<Request = unknown>(
  from?: (request: Request) => Awaitable<IdValue>,
  options?: AccountIdOptions,
): Key<Request> {
  return keyFrom(accountIdFormat(options), from);
}
