import { SluiceError } from '../checks/errors.ts';
import type { Store } from '../store/store.ts';

/** The limiters that use a store, each with the names of its limits, of which there may be none. */
type Users = Map<object, ReadonlySet<string>>;

const usersOf = new WeakMap<Store, Users>();

/**
 * Registers a limiter and the names of its limits on a store, instead of the names that it had before. If two limiters
 * used one name, each would spend from the other's buckets, with different numbers.
 *
 * @throws {SluiceError} `ERR_LIMIT_IN_USE` when another limiter uses one of the names; nothing is registered then.
 */
export function registerLimitNames(store: Store, owner: object, names: Iterable<string>): void {
  const users: Users = usersOf.get(store) ?? new Map<object, ReadonlySet<string>>();
  const wanted = new Set(names);
  for (const [user, used] of users) {
    const name = user === owner ? undefined : [...wanted].find((each) => used.has(each));
    if (name !== undefined) throw nameInUse(name);
  }
  users.set(owner, wanted);
  usersOf.set(store, users);
}

/** Whether any limiter uses a store, with limits or without. */
export function isStoreInUse(store: Store): boolean {
  return (usersOf.get(store)?.size ?? 0) > 0;
}

/** Releases a limiter and all its names, so that others can use them. */
export function releaseLimitNames(store: Store, owner: object): void {
  usersOf.get(store)?.delete(owner);
}

function nameInUse(name: string): SluiceError {
  return new SluiceError(
    'ERR_LIMIT_IN_USE',
    `Another limiter already uses the limit name "${name}" on this store. Share that limiter, rename this limit, or close the other limiter first.`,
  );
}
