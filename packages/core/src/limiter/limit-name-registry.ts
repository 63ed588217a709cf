import { SluiceError } from '../checks/errors.ts';
import type { StoredLimit } from '../definitions/stored-limits.ts';
import type { Store } from '../store/store.ts';

/** A limiter on a store. */
export interface StoreUser {
  /** Where the program made it, as a line of a stack trace names it. */
  readonly place: string;
  /** Its limits by name, of which there may be none. */
  readonly limits: ReadonlyMap<string, StoredLimit>;
}

/** Limits that another limiter on the same store has, too. Both have the same buckets. */
export interface MadeAgain {
  readonly limits: readonly string[];
  /** Where the limiters were made, the earlier one first. */
  readonly places: readonly [string, string];
}

/** At most so many pairs of places are reported: a reloaded module may have another name each time. */
const MAX_REPORTED = 100;

/** The limiters on one store. */
class StoreUsers {
  readonly all = new Map<object, StoreUser>();
  /** The pairs of places that were reported as {@link MadeAgain}. */
  readonly #reported = new Set<string>();

  /**
   * Finds a limiter whose buckets a limit may share.
   *
   * @returns Undefined when no other limiter uses the name.
   * @throws {SluiceError} `ERR_LIMIT_IN_USE`.
   */
  twinOf(name: string, owner: object, user: StoreUser): StoreUser | undefined {
    let known: StoreUser | undefined;
    const isReplaced = this.all.get(owner)?.limits.has(name) === true;
    for (const [other, found] of this.all) {
      const limit = other === owner ? undefined : found.limits.get(name);
      if (limit === undefined) continue;
      if (isEqual(limit, user.limits.get(name)!, isReplaced)) return found;
      known ??= found;
    }
    if (known !== undefined) throw nameInUse(name, known, user);
    return undefined;
  }

  /** Returns what to report: each pair of places once. */
  unreported(limits: readonly string[], places: MadeAgain['places']): MadeAgain | undefined {
    const pair = places.join(' ');
    if (this.#reported.has(pair) || this.#reported.size === MAX_REPORTED) return undefined;
    this.#reported.add(pair);
    return { limits, places };
  }
}

const usersOf = new WeakMap<Store, StoreUsers>();

/**
 * Registers a limiter and its limits on a store, instead of those that it had before. Other limiters may have equal limits:
 * a module is evaluated twice when it is reloaded, or in two bundles of one process. If their numbers differed, each would
 * spend from the other's buckets by numbers of its own.
 *
 * A limiter that already shares a name may replace its numbers: its twins replace theirs when they learn of the change.
 *
 * @returns What another limiter has, too; undefined if nothing is, or if it was returned for these places before.
 * @throws {SluiceError} `ERR_LIMIT_IN_USE` when another limiter has one of the names, and no limiter an equal limit; nothing
 * is registered then.
 */
export function registerLimits(store: Store, owner: object, user: StoreUser): MadeAgain | undefined {
  const users = usersOf.get(store) ?? new StoreUsers();
  const again = new Map<string, StoreUser>();
  for (const name of user.limits.keys()) {
    const twin = users.twinOf(name, owner, user);
    if (twin !== undefined) again.set(name, twin);
  }
  users.all.set(owner, user);
  usersOf.set(store, users);
  const [first] = again.values();
  return first && users.unreported([...again.keys()], [first.place, user.place]);
}

/** Whether any limiter uses a store, with limits or without. */
export function isStoreInUse(store: Store): boolean {
  return (usersOf.get(store)?.all.size ?? 0) > 0;
}

/** Releases a limiter and all its names, so that others can use them. */
export function releaseLimits(store: Store, owner: object): void {
  usersOf.get(store)?.all.delete(owner);
}

/** @param isReplaced - Whether the numbers may differ, because the limit had the same name before. */
function isEqual(one: StoredLimit, other: StoredLimit, isReplaced: boolean): boolean {
  return one.shape === other.shape && (isReplaced || one.numbers === other.numbers);
}

function nameInUse(name: string, other: StoreUser, user: StoreUser): SluiceError {
  const [theirs, ours] = [other.limits.get(name)!.text, user.limits.get(name)!.text];
  const numbers = theirs === ours ? 'with other options or ids' : `with other numbers: ${theirs}, and here ${ours}`;
  return new SluiceError(
    'ERR_LIMIT_IN_USE',
    `Another limiter already uses the limit name "${name}" on this store, ${numbers}. It was made ${other.place}. ` +
      'Share that limiter, rename this limit, or close the other limiter first. If this module was loaded again after a ' +
      'change of the numbers, restart the process.',
  );
}
