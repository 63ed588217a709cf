import type { StorePressure } from '../store.ts';
import { TICKS_PER_SECOND } from '../../rule/ticks.ts';
import type { LimitTables } from './limit-tables.ts';

/** The shortest time between two reports of the same kind. */
const QUIET_TICKS = 600 * TICKS_PER_SECOND;

/** Receives a report. It must not throw. */
export type PressureListener = (pressure: StorePressure) => void;

/**
 * Reports that a store is nearly full, and that it has evicted buckets in debt: each at once, then at most every ten
 * minutes. Reports are made during calls of the store, without a timer.
 */
export class PressureReports {
  readonly #tables: LimitTables;
  readonly #maxKeys: number;
  readonly #listeners = new Set<PressureListener>();
  #reportedEvictions = 0;
  #nearlyFullFrom = -Infinity;
  #evictedFrom = -Infinity;

  constructor(tables: LimitTables, maxKeys: number) {
    this.#tables = tables;
    this.#maxKeys = maxKeys;
  }

  /** @returns A function that removes the listener. */
  add(listener: PressureListener): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** To be called at the end of each call that leaves the store nearly full, because a listener may call the store. */
  report(now: number): void {
    const evicted = this.#tables.totals.evicted - this.#reportedEvictions;
    if (now < (evicted > 0 ? this.#evictedFrom : this.#nearlyFullFrom)) return;
    if (this.#listeners.size === 0) return;
    this.#nearlyFullFrom = now + QUIET_TICKS;
    if (evicted > 0) this.#evictedFrom = now + QUIET_TICKS;
    this.#reportedEvictions += evicted;
    const { limit, size } = this.#tables.largest();
    const { size: total } = this.#tables.totals;
    const largest = { limit, size };
    const pressure = { type: 'pressure', size: total, maxKeys: this.#maxKeys, evicted, largest } as const;
    for (const listener of this.#listeners) listener(pressure);
  }
}
