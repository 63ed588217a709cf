import { assert } from '../assert.ts';
import type { Store } from '../../store/store.ts';
import { slow } from '../sample-limit.ts';
import { promise, type StoreCase } from '../store-case.ts';
import { callsOf } from '../store-calls.ts';

const calls: readonly (readonly [name: string, call: (store: Store) => unknown])[] = [
  ['spend', (store) => callsOf(store).spend([slow.spend('id')])],
  ['check', (store) => callsOf(store).check([slow.spend('id')])],
  ['charge', (store) => callsOf(store).charge([slow.charge('id')])],
  ['refund', (store) => callsOf(store).refund([slow.refund('id')])],
  ['cap', (store) => callsOf(store).cap([slow.cap('id')])],
  ['reset', (store) => callsOf(store).reset([{ limit: slow.name, id: 'id' }])],
];

/** The kinds of answers, the clock, `ready` and `close`. */
export const lifeCases: readonly StoreCase[] = [
  promise('a store answers always at once, or always by a promise', async ({ store }) => {
    const answers = calls.map(([, call]) => call(store));
    const later = answers.map((answer) => answer instanceof Promise);
    await Promise.all(answers);
    assert.equal(new Set(later).size, 1, `promises: ${calls.map(([name], i) => `${name} ${later[i]}`).join(', ')}`);
  }),

  promise(
    'a store has `guard`, unless it has the trait `answersAtOnce` and never answers by a promise',
    async ({ store }) => {
      const answer = callsOf(store).check([]);
      await answer;
      if (store.traits?.answersAtOnce === true)
        return assert.ok(!(answer instanceof Promise), 'it answered by a promise');
      assert.ok(store.guard !== undefined, "it has no guard: import { storeGuard } from '@sluice/core/store'");
    },
  ),

  promise("a store's clock goes on, in whole ticks", async ({ store, advance }) => {
    const first = await callsOf(store).check([]);
    await advance(2);
    const second = await callsOf(store).check([]);
    assert.ok(second.nowTicks > first.nowTicks);
    assert.ok(Number.isSafeInteger(first.nowTicks) && Number.isSafeInteger(second.nowTicks), 'ticks are whole');
  }),

  promise('ready, of a store that has it, resolves when the store can answer', async ({ store }) => {
    await store.ready?.({ timeoutMs: 10_000 });
    await callsOf(store).check([slow.spend('id')]);
  }),

  promise('after close ready, of a store that has it, is the error ERR_CLOSED', async ({ store }) => {
    if (store.ready === undefined) return;
    await store.close();
    await assert.rejects(async () => store.ready?.(), { name: 'SluiceError', code: 'ERR_CLOSED' });
  }),

  promise('closing again does nothing', async ({ store }) => {
    await store.close();
    await store.close();
  }),

  ...calls.map(([name, call]) =>
    promise(`after close ${name} is the error ERR_CLOSED`, async ({ store }) => {
      await store.close();
      await assert.rejects(async () => call(store), { name: 'SluiceError', code: 'ERR_CLOSED' });
    }),
  ),
];
