import assert from 'node:assert/strict';
import type { Awaitable } from '../../async/awaitable.ts';
import type { Store } from '../../store/store.ts';
import { assertTat, fitted, other, slow, tatOf } from '../sample-limit.ts';
import { promise, type SteeredStoreCase, steeredPromise, type StoreCase } from '../store-case.ts';
import { callsOf } from '../store-calls.ts';

const T = slow.emissionIntervalTicks;
const generous = slow.withBurst(100);

interface Call {
  readonly name: string;
  readonly call: (store: Store) => Awaitable<unknown>;
  /** Tokens that the call gives back. */
  readonly givesBack?: number;
}

const calls: readonly Call[] = [
  { name: 'a spend that asks for nothing', call: (store) => callsOf(store).spend([slow.spend('id', 0)]) },
  { name: 'a denied spend', call: (store) => callsOf(store).spend([slow.spend('id', 1)]) },
  { name: 'a spend-only', call: (store) => callsOf(store).spend([slow.spend('id', 1, 'spend-only')]) },
  { name: 'a check', call: (store) => callsOf(store).check([slow.spend('id')]) },
  { name: 'a charge', call: (store) => callsOf(store).charge([slow.charge('id')]) },
  { name: 'a charge of 0', call: (store) => callsOf(store).charge([slow.charge('id', 0)]) },
  { name: 'a refund', call: (store) => callsOf(store).refund([slow.refund('id', 2)]), givesBack: 2 },
];

/** Several sets of numbers used on one bucket, and changes of the numbers. */
export const otherNumbersCases: readonly (StoreCase | SteeredStoreCase)[] = [
  ...calls.map(({ name, call, givesBack = 0 }) =>
    promise(`${name} does not cut the debt that a larger burst left`, async ({ store }) => {
      const tat = tatOf(await callsOf(store).spend([generous.spend('id', 100)]), 100 * T);
      await call(store);
      assertTat(await callsOf(store).check([slow.spend('id')]), tat - givesBack * T);
    }),
  ),

  promise('two bursts used in turn let through no more than the larger one', async ({ store }) => {
    let taken = 0;
    for (let turn = 0; turn < 120; turn++) {
      const transaction = (turn % 2 === 0 ? generous : slow).spend('id');
      if (fitted(await callsOf(store).spend([transaction]), transaction)) taken++;
    }
    for (let turn = 0; turn < 60; turn++) {
      if (fitted(await callsOf(store).spend([generous.spend('id')]), generous.spend('id'))) taken++;
    }
    assert.equal(taken, generous.burst);
  }),

  promise('cap cuts a debt to that of an empty bucket', async ({ store }) => {
    await callsOf(store).spend([generous.spend('a', 100), other.spend('a', 5)]);
    const reading = await callsOf(store).cap([slow.cap('a')]);
    assert.deepEqual(reading.levelsTicks, [5 * T]);
    const after = await callsOf(store).check([generous.spend('a'), other.spend('a')]);
    assertTat(after, tatOf(reading), 0);
  }),

  promise('cap changes no debt below that of an empty bucket, and nothing when it comes again', async ({ store }) => {
    const tat = tatOf(await callsOf(store).spend([slow.spend('id', 3)]), 3 * T);
    assertTat(await callsOf(store).cap([slow.cap('id'), slow.cap('new')]), tat);
    assertTat(await callsOf(store).cap([slow.cap('id')]), tat);
  }),

  steeredPromise(
    'a clock that ran ahead and came back locks nobody out for longer than an empty bucket',
    async ({ store, advance, stepBack }) => {
      await advance(86_400_000);
      await callsOf(store).spend([slow.spend('id', 5)]);
      await stepBack(86_400_000);
      assert.deepEqual((await callsOf(store).check([slow.spend('id')])).levelsTicks, [5 * T]);
      await advance(60_000);
      assert.deepEqual((await callsOf(store).check([slow.spend('id')])).levelsTicks, [4 * T]);
    },
  ),

  steeredPromise(
    'a clock that came back does not undo the debt that a larger burst left',
    async ({ store, advance, stepBack }) => {
      await advance(86_400_000);
      await callsOf(store).spend([generous.spend('id', 100)]);
      await stepBack(86_400_000);
      assert.deepEqual((await callsOf(store).check([slow.spend('id')])).levelsTicks, [100 * T]);
    },
  ),
];
