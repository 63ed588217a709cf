import { SluiceError } from '../checks/errors.ts';
import type { Store } from '../store/store.ts';

const claims = new WeakMap<Store, Map<string, object>>();

/**
 * Registers the names of a limiter's limits on a store, instead of the names that it had before. If two limiters used
 * one name, each would spend from the other's buckets, with different numbers.
 *
 * @throws {SluiceError} `ERR_LIMIT_IN_USE` when another limiter uses one of the names; nothing is registered then.
 */
export function registerLimitNames(store: Store, owner: object, names: Iterable<string>): void {
  const owners = claims.get(store) ?? new Map<string, object>();
  const wanted = [...names];
  for (const name of wanted) {
    if ((owners.get(name) ?? owner) === owner) continue;
    throw new SluiceError(
      'ERR_LIMIT_IN_USE',
      `Another limiter already uses the limit name "${name}" on this store. Share that limiter, rename this limit, or close the other limiter first.`,
    );
  }
  releaseLimitNames(store, owner);
  for (const name of wanted) owners.set(name, owner);
  claims.set(store, owners);
}

/** Whether any limiter has names registered on a store. */
export function hasLimitNames(store: Store): boolean {
  return (claims.get(store)?.size ?? 0) > 0;
}

/** Releases all names of a limiter, so that others can use them. */
export function releaseLimitNames(store: Store, owner: object): void {
  const owners = claims.get(store);
  for (const [name, other] of owners ?? []) if (other === owner) owners?.delete(name);
}
