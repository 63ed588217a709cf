import type { BucketName, SlotHolding, StoreHold, StoreReading, StoreTransaction } from './store.ts';

/** Slots from the first one up. */
export type SlotsOfHolder = BucketName & Pick<StoreHold, 'holder' | 'expiryMs' | 'first' | 'count'>;

/** Slots of one holder as another store may take them over. */
export interface HandedSlots {
  readonly holder: string;
  readonly from: number;
  readonly to: number;
  readonly leftTicks: number;
  readonly expiryTicks: number;
}

/** The slots of one bucket as another store may take them over. */
export interface HandedBucket {
  readonly limit: string;
  readonly key: string;
  readonly slots: readonly HandedSlots[];
}

/** The buckets of slots of a memory store. */
export interface SlotTable {
  /** Returns how many slots of each limit are held, as of the last look at each bucket. */
  heldByLimit(): Record<string, number>;
  /** Returns how many slots of a bucket are held. */
  level(name: BucketName, now: number): number;
  /** Returns who holds slots of a bucket. */
  holders(name: BucketName, now: number): readonly string[];
  /** Holds the first slots of a holder that holds none yet. */
  take(name: BucketName, holding: SlotHolding, count: number, now: number): void;
  /** Holds slots from now until they expire, whether they are held already or not. */
  hold(slots: SlotsOfHolder, now: number): void;
  /** Frees those of the slots that are held. */
  release(slots: SlotsOfHolder): void;
  /** Frees all slots of a bucket. */
  reset(name: BucketName): void;
  /** Returns what is held, for another store. */
  handed(now: number): Iterable<HandedBucket>;
  /** Holds what another store has handed over, after the time that has passed since. */
  takeOver(handed: HandedBucket, passedTicks: number, now: number): void;
  /** Looks at some buckets, one after the other, and drops those that have all expired. */
  sweep(count: number, now: number): void;
}

/** The running period of a bucket, by the store's clock. */
export interface PeriodLeft {
  readonly startMs: number;
  readonly endMs: number;
  /** What is left of it. The store's clock is read in whole milliseconds, rounded down: never too short. */
  readonly leftTicks: number;
}

/** A bucket whose level is reset at the end of each period. */
export type PeriodicBucket = Pick<StoreTransaction, 'calendar' | 'period'>;

/** What a kind of limits provides to stores, decisions and exchanges, which load none of it themselves. */
export interface Provided {
  /** Makes a table of slots for a memory store. */
  readonly slotTable: () => SlotTable;
  /** Returns the running period of a bucket of a reading. */
  readonly periodLeft: (bucket: PeriodicBucket, reading: StoreReading, index: number) => PeriodLeft;
  /** Calls a function once, when other code has ended a response of Node. */
  readonly onceEnded: (response: object, done: () => void) => void;
}

/** What kinds have provided. For the hot path, which knows that the kind is loaded; others call {@link provided}. */
export const known: Partial<Provided> = {};

/** Provides something to this copy of the package. What was provided before by another copy of a kind stays. */
export function provide(what: Partial<Provided>): void {
  for (const [name, value] of Object.entries(what)) if (!(name in known)) Object.assign(known, { [name]: value });
}

/**
 * Returns what a kind has provided.
 *
 * @throws {Error} When none has: a caller outside of a limiter has to import the kind first.
 */
export function provided<Name extends keyof Provided>(name: Name): Provided[Name] {
  const found = known[name];
  if (found !== undefined) return found;
  const entry = name === 'periodLeft' ? 'quota' : 'concurrency';
  throw new Error(`No limit has used it yet: import '@sluice/core/${entry}' before the first call of the store.`);
}
