import assert from 'node:assert/strict';
import type { Awaitable } from '../../awaitable.ts';
import type { Store, StoreReading } from '../../store.ts';
import { assertTat, other, slow, tatOf } from '../sample-limit.ts';
import { promise, type SteeredStoreCase, steeredPromise, type StoreCase } from '../store-case.ts';

const T = slow.emissionIntervalTicks;
const generous = slow.withBurst(100);

interface RepairingCall {
  readonly name: string;
  readonly call: (store: Store) => Awaitable<StoreReading>;
  /** The level that it leaves, in tokens: 5 of 5 are owed once the TAT is repaired. */
  readonly levelAfter: number;
}

const repairingCalls: readonly RepairingCall[] = [
  { name: 'an allowed spend', call: (store) => store.spend([slow.spend('id', 0)]), levelAfter: 5 },
  { name: 'a denied spend', call: (store) => store.spend([slow.spend('id', 1)]), levelAfter: 5 },
  { name: 'a check', call: (store) => store.check([slow.spend('id')]), levelAfter: 5 },
  { name: 'a charge', call: (store) => store.charge([slow.charge('id')]), levelAfter: 5 },
  { name: 'a charge of 0', call: (store) => store.charge([slow.charge('id', 0)]), levelAfter: 5 },
  { name: 'a refund', call: (store) => store.refund([slow.refund('id', 2)]), levelAfter: 3 },
];

/** How a TAT too far ahead heals, after a limit was raised or a clock went back. */
export const repairCases: readonly (StoreCase | SteeredStoreCase)[] = [
  ...repairingCalls.map(({ name, call, levelAfter }) =>
    promise(`${name} replaces a TAT further ahead than an empty bucket's`, async ({ store }) => {
      await store.spend([generous.spend('id', 100)]);
      const { nowTicks } = await call(store);
      // With the larger tolerance the stored TAT shows as it is.
      assertTat(await store.check([generous.spend('id')]), nowTicks + levelAfter * T);
    }),
  ),

  promise('a batch that another bucket denies still replaces a TAT too far ahead', async ({ store }) => {
    await store.spend([generous.spend('id', 100), other.spend('id', 5)]);
    const repairing = await store.spend([slow.spend('id', 1, 'spend-only'), other.spend('id')]);
    assert.equal(repairing.levelsTicks[0], 5 * T);
    assertTat(await store.check([generous.spend('id')]), tatOf(repairing));
  }),

  promise('a TAT is replaced once, not at every look', async ({ store, advance }) => {
    await store.spend([generous.spend('id', 100)]);
    const tat = tatOf(await store.check([slow.spend('id')]));
    await advance(2);
    assertTat(await store.check([slow.spend('id')]), tat);
  }),

  steeredPromise(
    'a clock that went back far heals in the time of an empty bucket',
    async ({ store, advance, stepBack }) => {
      await advance(86_400_000);
      await store.spend([slow.spend('id', 5)]);
      await stepBack(86_400_000);
      assert.deepEqual((await store.check([slow.spend('id')])).levelsTicks, [5 * T]);
      await advance(60_000);
      assert.deepEqual((await store.check([slow.spend('id')])).levelsTicks, [4 * T]);
    },
  ),
];
