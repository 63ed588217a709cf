import type { LoadedLimits } from '@sluice/config';
import { overridesOf } from '@sluice/core/kit';

type Loaded = Pick<LoadedLimits, 'overrides'>;

/** What the override of an id is listed for, which is the id, a network, or first parts of the id. */
export interface ListedOverride {
  /** Null if the limit's own numbers apply. */
  readonly override: string | null;
  /** Of one that would apply, and has ended; null if there is none. */
  readonly endedOverride: string | null;
}

/** @param id - The canonical one; undefined for the limit itself, which has no override. */
export function listedOverride(loaded: Loaded, limit: string, id: string | undefined): ListedOverride {
  const overrides = id === undefined ? undefined : overridesOf(loaded.overrides, limit);
  const override = overrides?.listedFor(id!) ?? null;
  const withEnded = overrides?.listedFor(id!, (rate) => rate) ?? null;
  return { override, endedOverride: withEnded === override ? null : withEnded };
}
