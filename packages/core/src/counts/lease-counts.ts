import type { Store, StoreSync } from '../store/store.ts';
import { DURATION_BOUNDS, Histogram } from './histogram.ts';
import { tellAll } from './tell-all.ts';

/** How a sync of leases ended. */
export type SyncState = StoreSync['state'];

export const SYNC_STATES: readonly SyncState[] = ['answered', 'failed'];

/** Receives how long each sync took. Errors that it throws are ignored. */
export interface SyncListener {
  /** A sync has ended. Of a store that several limiters share, it is called once for each sync. */
  sync(seconds: number, state: SyncState): void;
}

const ofStores = new WeakMap<Store, LeaseCounts>();

/**
 * Returns the counts of the syncs of a store, which begin with the first call. There is one for each store, however many limiters
 * share it.
 *
 * @returns Undefined for a store without leases.
 */
export function leaseCountsOf(store: Store): LeaseCounts | undefined {
  let counts = ofStores.get(store);
  if (counts === undefined && store.watchSyncs !== undefined) {
    counts = new LeaseCounts();
    ofStores.set(store, counts);
    store.watchSyncs(counts.count);
  }
  return counts;
}

/** What the syncs of one store have done. */
export class LeaseCounts {
  /** Tokens. A sync that failed is repeated, and counted when it is answered. */
  granted = 0;
  charged = 0;
  /** How long syncs took, in seconds. */
  readonly durations: Readonly<Record<SyncState, Histogram>> = {
    answered: new Histogram(DURATION_BOUNDS),
    failed: new Histogram(DURATION_BOUNDS),
  };
  /** With how many limiters a listener listens. */
  readonly #listeners = new Map<SyncListener, number>();

  readonly count = ({ state, durationMs, charged, granted = 0 }: StoreSync): void => {
    if (state === 'answered') {
      this.charged += charged;
      this.granted += granted;
    }
    this.durations[state].add(durationMs / 1000);
    tellAll(this.#listeners.keys(), (listener) => listener.sync(durationMs / 1000, state));
  };

  /** Calls a listener once for each sync, also if it is added for several limiters. */
  add(listener: SyncListener): void {
    this.#listeners.set(listener, (this.#listeners.get(listener) ?? 0) + 1);
  }

  remove(listener: SyncListener): void {
    const left = (this.#listeners.get(listener) ?? 0) - 1;
    if (left > 0) this.#listeners.set(listener, left);
    else this.#listeners.delete(listener);
  }
}
