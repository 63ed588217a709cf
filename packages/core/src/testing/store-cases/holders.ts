import type { Store } from '../../store/store.ts';
import { assert } from '../assert.ts';
import { ofSlots, SHORT_MS, slots } from '../sample-slots.ts';
import { callsOf } from '../store-calls.ts';
import type { StoreCase } from '../store-case.ts';

/** Cases for every store that has the method `holders`. */
export const holdersCases: readonly StoreCase[] = [
  holdersPromise('holders has each holder of each bucket once', async (store, assertHolders) => {
    await callsOf(store).spend([slots.take('id', 'a', { count: 2 })]);
    await callsOf(store).renew([slots.held('id', 'a', { first: 7 }), slots.held('id', 'b-_')]);
    await callsOf(store).renew([slots.held('other', 'c')]);
    await assertHolders({ id: ['a', 'b-_'], unknown: [], other: ['c'] });
    await assertHolders({});
  }),

  holdersPromise('a holder that has released its slots is not one of the holders', async (store, assertHolders) => {
    await callsOf(store).renew([slots.held('id', 'a', { count: 2 }), slots.held('id', 'b')]);
    await callsOf(store).release([slots.held('id', 'a'), slots.held('id', 'b')]);
    await assertHolders({ id: ['a'] });
    await callsOf(store).reset([{ limit: 'Slots', id: 'id', slots: true }]);
    await assertHolders({ id: [] });
  }),

  holdersPromise(
    'a holder whose slots have expired is not one of the holders',
    async (store, assertHolders, advance) => {
      await callsOf(store).renew([slots.held('id', 'a', { expiryMs: SHORT_MS }), slots.held('id', 'b')]);
      await advance(SHORT_MS + 20);
      await assertHolders({ id: ['b'] });
    },
  ),
];

type Holders = Readonly<Record<string, readonly string[]>>;

function holdersPromise(
  name: string,
  check: (
    store: Store,
    assertHolders: (expected: Holders) => Promise<void>,
    advance: (ms: number) => unknown,
  ) => Promise<void>,
): StoreCase {
  return ofSlots(`${name}, of a store that has holders`, async (store, { advance }) => {
    if (store.holders === undefined) return;
    const assertHolders = async (expected: Holders): Promise<void> => {
      const ids = Object.keys(expected);
      const buckets = ids.map((id) => ({ limit: 'Slots', id, slots: true }) as const);
      const holders = await store.holders!(buckets);
      assert.deepEqual(Object.fromEntries(ids.map((id, i) => [id, holders[i]!.toSorted()])), expected);
    };
    await check(store, assertHolders, advance);
  });
}
