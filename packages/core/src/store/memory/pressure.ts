import { shownName } from '../../checks/errors.ts';
import type { LimiterEvent } from '../../events/event.ts';
import type { StorePressure } from '../store.ts';
import { TICKS_PER_SECOND } from '../../rule/ticks.ts';
import type { LimitTables } from './limit-tables.ts';

/** Creates the event for a limiter's own store that is nearly full or has evicted buckets in debt. */
export function pressureEvent(pressure: StorePressure): LimiterEvent {
  const remedy = `If so many clients are real, keep more buckets: memoryStore({ maxKeys: ${2 * pressure.maxKeys} }).`;
  return eventOf('The store', pressure, remedy);
}

/**
 * Creates the event for the store that decides under `onFailure: 'local'` while the limiter's own store can't answer.
 */
export function localPressureEvent(pressure: StorePressure): LimiterEvent {
  const remedy =
    "Make the limiter's store answer again, or use onFailure: 'closed' for limits that must hold during an outage.";
  return eventOf("The local store of onFailure: 'local'", pressure, remedy);
}

function eventOf(store: string, pressure: StorePressure, remedy: string): LimiterEvent {
  const { size, maxKeys, evicted, largest } = pressure;
  const fill = `${size} of at most ${maxKeys} buckets, ${largest.size} of them of limit "${shownName(largest.limit)}"`;
  if (evicted === 0) {
    const outlook = 'When it is full, it evicts buckets of the limit that has most of them.';
    return { type: 'warning', message: `${store} is nearly full: ${fill}. ${outlook} ${remedy}` };
  }
  const loss = `${evicted === 1 ? '1 bucket' : `${evicted} buckets`} with spent tokens: these clients get their burst again.`;
  return {
    type: 'buckets-evicted',
    count: evicted,
    message: `${store} is full: ${fill}. Since the last such event it evicted ${loss} ${remedy}`,
  };
}

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

  /**
   * Call it at the end of each call that adds a bucket to a store and leaves it nearly full, because a listener may call
   * the store.
   */
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
