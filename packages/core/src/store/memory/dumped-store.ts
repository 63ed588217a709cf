import { provide } from '../provided.ts';
import { addDump, dumpOf, dumpsOf, restoreInto } from './dump.ts';
import { openBuckets, type MemoryStore } from './memory-store.ts';
import { SlotBuckets } from './slot-buckets.ts';
import { addSlotsDump, isSlotsDump, slotDumpsOf } from './slots-dump.ts';

// A part with slots may come before the first limit with slots.
provide({ slotTable: () => new SlotBuckets() });

/**
 * Returns all buckets of a memory store that are not full, as bytes for {@link restore} of another store. Call it after the
 * last decision. Slots in use are left out: their requests end with the process.
 *
 * The bytes contain the key of the hashes, so do not show them to clients. They take 16 bytes for each bucket, and the
 * call takes time for each bucket.
 *
 * @throws {SluiceError} `ERR_CLOSED`; `ERR_OPTION` for another store.
 */
export function dump(store: MemoryStore): Uint8Array {
  const { buckets, nowTicks } = openBuckets(store);
  return dumpOf(buckets.dumped, nowTicks);
}

/**
 * Adds the buckets of a dump to a memory store, which must not have any yet. The time since the dump is measured by the wall
 * clock: if the clock was set back meanwhile, clients wait longer by that much.
 *
 * @throws {SluiceError} `ERR_DUMP` if the store has buckets, or the bytes are not a complete dump of this version. The
 * store is then unchanged. `ERR_CLOSED`; `ERR_OPTION` for another store.
 */
export function restore(store: MemoryStore, bytes: Uint8Array): void {
  const { buckets, nowTicks } = openBuckets(store);
  restoreInto(buckets.dumped, bytes, nowTicks);
  buckets.trim(nowTicks);
}

/**
 * Returns the buckets of a memory store that are not full and its slots, in parts of at most some 64 kB, none of which
 * takes longer than a millisecond to make. The store must not be used between the first and the last one.
 *
 * @throws {SluiceError} `ERR_CLOSED`; `ERR_OPTION` for another store.
 */
export function* dumpParts(store: MemoryStore): Generator<Uint8Array> {
  const { buckets, nowTicks } = openBuckets(store);
  const wallMs = buckets.dumped.wall.nowMs();
  yield* dumpsOf(buckets.dumped, nowTicks, wallMs);
  const { table } = buckets.slots;
  if (table !== undefined) yield* slotDumpsOf(table, nowTicks, wallMs);
}

/**
 * Adds a part of another store to a store that has nothing but other parts of it.
 *
 * @throws {SluiceError} `ERR_DUMP` if it is not one. The store must then not be used. `ERR_CLOSED`; `ERR_OPTION` for another
 * store.
 */
export function restorePart(store: MemoryStore, part: Uint8Array): void {
  const { buckets, nowTicks } = openBuckets(store);
  if (isSlotsDump(part)) return addSlotsDump(buckets.slots.made(), part, buckets.dumped.wall, nowTicks);
  addDump(buckets.dumped, part, nowTicks);
  buckets.trim(nowTicks);
}
