import { assert } from './assert.ts';
import { provide } from '../store/provided.ts';
import { SlotBuckets } from '../store/memory/slot-buckets.ts';
import type { Mode, Store, StoreHold, StoreTransaction } from '../store/store.ts';
import {
  promise,
  steeredPromise,
  type SteeredStoreCase,
  type SteeredStoreUnderTest,
  type StoreCase,
  type StoreUnderTest,
} from './store-case.ts';
import { callsOf } from './store-calls.ts';

// The cases call stores without a limiter, whose limits would provide it.
provide({ slotTable: () => new SlotBuckets() });

/** The number of slots. */
export const SLOTS = 3;
/** The shortest expiry: short enough to wait for. */
export const SHORT_MS = 1000;
/** An expiry that is not over during a case, even on a real clock. */
export const LONG_MS = 60_000;

/** What a transaction or a hold may have of its own. */
export interface SlotNumbers {
  readonly count?: number;
  readonly expiryMs?: number;
}

/** The entries of batches for a limit of three slots. */
export const slots = {
  /** @param numbers - `fit`: the slots up to which it fits. */
  take(
    id: string,
    holder: string,
    {
      count = 1,
      expiryMs = LONG_MS,
      mode = 'check-and-spend',
      fit = SLOTS,
    }: SlotNumbers & { readonly mode?: Mode; readonly fit?: number } = {},
  ): StoreTransaction {
    return {
      limit: 'Slots',
      id,
      slots: true,
      incrementTicks: count,
      fitTicks: fit,
      capTicks: SLOTS,
      mode,
      holding: { holder, expiryMs },
    };
  },

  held(
    id: string,
    holder: string,
    { first = 1, count = 1, expiryMs = LONG_MS }: SlotNumbers & { readonly first?: number } = {},
  ): StoreHold {
    return { limit: 'Slots', id, slots: true, holder, expiryMs, first, count };
  },
};

/** Asserts how many slots of each bucket are held. */
export async function assertHeld(store: Store, held: Readonly<Record<string, number>>): Promise<void> {
  const { levelsTicks } = await callsOf(store).check(Object.keys(held).map((id) => slots.take(id, 'looks')));
  assert.deepEqual(levelsTicks, Object.values(held));
}

/** A promise of stores with the trait `slots`. */
export function ofSlots(name: string, check: (store: Store, subject: StoreUnderTest) => Promise<void>): StoreCase {
  return promise(name, async (subject) => {
    if (subject.store.traits?.slots === true) await check(subject.store, subject);
  });
}

/** The same on a clock that the test controls. */
export function steeredOfSlots(
  name: string,
  check: (store: Store, subject: SteeredStoreUnderTest) => Promise<void>,
): SteeredStoreCase {
  return steeredPromise(name, async (subject) => {
    if (subject.store.traits?.slots === true) await check(subject.store, subject);
  });
}
