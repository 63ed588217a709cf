import { assert } from '../assert.ts';
import { assertHeld, ofSlots, SHORT_MS, SLOTS, slots, steeredOfSlots } from '../sample-slots.ts';
import type { SteeredStoreCase, StoreCase } from '../store-case.ts';
import { callsOf } from '../store-calls.ts';

/** How slots are renewed and released, and when they expire. */
export const slotExpiryCases: readonly (StoreCase | SteeredStoreCase)[] = [
  ofSlots('a released slot is free, and releasing it again frees no other', async (store) => {
    await callsOf(store).spend([slots.take('id', 'a')]);
    await callsOf(store).spend([slots.take('id', 'b', { count: 2 })]);
    await callsOf(store).release([slots.held('id', 'a')]);
    await assertHeld(store, { id: 2 });
    await callsOf(store).release([slots.held('id', 'a')]);
    await assertHeld(store, { id: 2 });
    await callsOf(store).spend([slots.take('id', 'c')]);
    await callsOf(store).release([slots.held('id', 'a')]);
    await assertHeld(store, { id: SLOTS });
  }),

  ofSlots('release does nothing for slots that are not held', async (store) => {
    await callsOf(store).release([slots.held('unknown', 'a'), slots.held('unknown', 'b', { count: 5 })]);
    await assertHeld(store, { unknown: 0 });
    await callsOf(store).spend([slots.take('id', 'a', { count: 2 })]);
    await callsOf(store).release([slots.held('id', 'a', { first: 4, count: 5 }), slots.held('id', 'b', { count: 2 })]);
    await assertHeld(store, { id: 2 });
    await callsOf(store).renew([slots.held('gap', 'a', { first: 4, count: 2 })]);
    await callsOf(store).release([slots.held('gap', 'a', { count: 2 })]);
    await assertHeld(store, { gap: 2 });
  }),

  ofSlots('some slots of a holder are released, by the number of the first and how many', async (store) => {
    await callsOf(store).spend([slots.take('id', 'a', { count: 3 })]);
    await callsOf(store).release([slots.held('id', 'a', { first: 2 })]);
    await assertHeld(store, { id: 2 });
    await callsOf(store).release([slots.held('id', 'a', { first: 2, count: 2 })]);
    await assertHeld(store, { id: 1 });
    await callsOf(store).release([slots.held('id', 'a', { count: 3 })]);
    await assertHeld(store, { id: 0 });
  }),

  ofSlots('one call releases slots of several holders and buckets', async (store) => {
    await callsOf(store).spend([slots.take('a', 'x'), slots.take('b', 'x', { count: 2 })]);
    await callsOf(store).spend([slots.take('a', 'y')]);
    await callsOf(store).release([slots.held('a', 'x'), slots.held('b', 'x'), slots.held('a', 'y')]);
    await assertHeld(store, { a: 0, b: 1 });
  }),

  ofSlots('a holder in two buckets holds the slots of each by itself', async (store) => {
    await callsOf(store).spend([slots.take('a', 'x'), slots.take('b', 'x')]);
    await callsOf(store).release([slots.held('a', 'x')]);
    await assertHeld(store, { a: 0, b: 1 });
  }),

  ofSlots('slots are free again after their expiry, and those of a longer one are not', async (store, { advance }) => {
    await callsOf(store).spend([slots.take('id', 'long')]);
    await callsOf(store).spend([slots.take('id', 'short', { count: 2, expiryMs: SHORT_MS })]);
    await callsOf(store).spend([slots.take('id', 'late', { expiryMs: SHORT_MS })]);
    await advance(SHORT_MS + 20);
    await assertHeld(store, { id: 1 });
    assert.deepEqual((await callsOf(store).spend([slots.take('id', 'next', { count: 2 })])).levelsTicks, [1]);
    await assertHeld(store, { id: SLOTS });
  }),

  ofSlots('renewed slots are held for a new expiry, and only those', async (store, { advance }) => {
    await callsOf(store).spend([slots.take('id', 'a', { count: 2, expiryMs: SHORT_MS }), slots.take('other', 'a')]);
    await callsOf(store).spend([slots.take('id', 'b', { expiryMs: SHORT_MS })]);
    await callsOf(store).renew([slots.held('id', 'a', { first: 2 })]);
    await advance(SHORT_MS + 20);
    await assertHeld(store, { id: 1, other: 1 });
    await callsOf(store).release([slots.held('id', 'a', { first: 2 })]);
    await assertHeld(store, { id: 0 });
  }),

  ofSlots('renewing slots frees no others', async (store) => {
    await callsOf(store).spend([slots.take('id', 'a', { count: 2 })]);
    await callsOf(store).spend([slots.take('id', 'b')]);
    await callsOf(store).renew([slots.held('id', 'a', { first: 2 })]);
    await assertHeld(store, { id: SLOTS });
  }),

  ofSlots('one call renews slots of several holders and buckets', async (store, { advance }) => {
    await callsOf(store).spend([
      slots.take('a', 'x', { expiryMs: SHORT_MS }),
      slots.take('b', 'x', { expiryMs: SHORT_MS }),
    ]);
    await callsOf(store).spend([slots.take('a', 'y', { expiryMs: SHORT_MS })]);
    await callsOf(store).renew([slots.held('a', 'x'), slots.held('b', 'x'), slots.held('a', 'y')]);
    await advance(SHORT_MS + 20);
    await assertHeld(store, { a: 2, b: 1 });
  }),

  ofSlots('renewed slots expire too', async (store, { advance }) => {
    await callsOf(store).spend([slots.take('id', 'a')]);
    await callsOf(store).renew([slots.held('id', 'a', { expiryMs: SHORT_MS })]);
    await advance(SHORT_MS + 20);
    await assertHeld(store, { id: 0 });
  }),

  ofSlots('renew holds slots again that the store has lost', async (store) => {
    await callsOf(store).spend([slots.take('id', 'a', { count: 2 })]);
    await callsOf(store).reset([{ limit: 'Slots', id: 'id', slots: true }]);
    await callsOf(store).renew([slots.held('id', 'a', { count: 2 }), slots.held('unknown', 'a', { first: 4 })]);
    await assertHeld(store, { id: 2, unknown: 1 });
    await callsOf(store).release([slots.held('id', 'a', { count: 2 }), slots.held('unknown', 'a', { first: 4 })]);
    await assertHeld(store, { id: 0, unknown: 0 });
  }),

  ofSlots('renew holds slots again that have expired', async (store, { advance }) => {
    await callsOf(store).spend([slots.take('id', 'a', { count: 2, expiryMs: SHORT_MS })]);
    await advance(SHORT_MS + 20);
    await callsOf(store).renew([slots.held('id', 'a', { count: 2 })]);
    await assertHeld(store, { id: 2 });
  }),

  ofSlots('a transaction of no slots passes, also beyond the limit', async (store) => {
    await callsOf(store).spend([slots.take('id', 'a', { count: SLOTS })]);
    await callsOf(store).renew([slots.held('id', 'b', { count: 2 })]);
    await callsOf(store).spend([slots.take('id', 'c', { count: 0 }), slots.take('other', 'c')]);
    await assertHeld(store, { id: SLOTS + 2, other: 1 });
  }),

  ofSlots('renew holds slots beyond the limit, and then nothing fits until enough are free', async (store) => {
    await callsOf(store).spend([slots.take('id', 'a', { count: SLOTS })]);
    await callsOf(store).renew([slots.held('id', 'b', { count: 2 })]);
    await assertHeld(store, { id: SLOTS + 2 });
    await callsOf(store).release([slots.held('id', 'a', { count: 2 })]);
    await callsOf(store).spend([slots.take('id', 'c')]);
    await assertHeld(store, { id: SLOTS });
    await callsOf(store).release([slots.held('id', 'b')]);
    await callsOf(store).spend([slots.take('id', 'd')]);
    await assertHeld(store, { id: SLOTS });
  }),

  steeredOfSlots('slots expire exactly at their end, and not before', async (store, { advance }) => {
    await callsOf(store).spend([slots.take('id', 'a', { count: 2, expiryMs: SHORT_MS })]);
    await advance(500);
    await callsOf(store).spend([slots.take('id', 'b', { expiryMs: SHORT_MS })]);
    await advance(499);
    await assertHeld(store, { id: SLOTS });
    await advance(1);
    await assertHeld(store, { id: 1 });
    await advance(499);
    await assertHeld(store, { id: 1 });
    await advance(1);
    await assertHeld(store, { id: 0 });
  }),

  steeredOfSlots('an expiry counts from the last renewal', async (store, { advance }) => {
    await callsOf(store).spend([slots.take('id', 'a', { expiryMs: 2 * SHORT_MS })]);
    await advance(500);
    await callsOf(store).renew([slots.held('id', 'a', { expiryMs: SHORT_MS })]);
    await advance(999);
    await assertHeld(store, { id: 1 });
    await advance(1);
    await assertHeld(store, { id: 0 });
  }),

  steeredOfSlots(
    'a clock that steps back changes no expiry that is not beyond it',
    async (store, { advance, stepBack }) => {
      await callsOf(store).spend([slots.take('id', 'a', { expiryMs: SHORT_MS })]);
      await advance(500);
      await callsOf(store).spend([slots.take('id', 'b', { expiryMs: SHORT_MS })]);
      await stepBack(300);
      await assertHeld(store, { id: 2 });
      await advance(799);
      await assertHeld(store, { id: 2 });
      await advance(1);
      await assertHeld(store, { id: 1 });
      await advance(200);
      await assertHeld(store, { id: 0 });
    },
  ),

  ...[900, 86_400_000].map((backMs) =>
    steeredOfSlots(
      `a clock that steps back by ${backMs} ms frees no slot, and lets none be held for longer than its expiry`,
      async (store, { advance, stepBack }) => {
        await advance(SHORT_MS);
        await callsOf(store).spend([slots.take('id', 'a', { expiryMs: SHORT_MS })]);
        await callsOf(store).spend([slots.take('id', 'b', { count: 2, expiryMs: 2 * SHORT_MS })]);
        await stepBack(backMs);
        await callsOf(store).spend([slots.take('id', 'c')]);
        await assertHeld(store, { id: SLOTS });
        await advance(SHORT_MS);
        await assertHeld(store, { id: 2 });
        await advance(SHORT_MS);
        await assertHeld(store, { id: 0 });
      },
    ),
  ),
];
