import { assert } from '../assert.ts';
import { fitted, SampleLimit, slow } from '../sample-limit.ts';
import { assertHeld, ofSlots, SLOTS, slots } from '../sample-slots.ts';
import type { StoreCase } from '../store-case.ts';
import { callsOf } from '../store-calls.ts';

/** The calls with which slots are taken. */
export const slotCases: readonly StoreCase[] = [
  ofSlots('exactly as many slots as there are can be held at the same time', async (store) => {
    for (let request = 0; request < SLOTS; request++) {
      assert.deepEqual((await callsOf(store).spend([slots.take('id', `h${request}`)])).levelsTicks, [request]);
    }
    assert.deepEqual((await callsOf(store).spend([slots.take('id', 'late')])).levelsTicks, [SLOTS]);
    await assertHeld(store, { id: SLOTS, other: 0 });
  }),

  ofSlots('of many calls at the same time exactly as many hold a slot as there are', async (store) => {
    const calls = Array.from({ length: 20 }, async (_, index) => callsOf(store).spend([slots.take('id', `h${index}`)]));
    const readings = await Promise.all(calls);
    assert.equal(readings.filter((reading) => fitted(reading, slots.take('id', 'any'))).length, SLOTS);
    await assertHeld(store, { id: SLOTS });
  }),

  ofSlots('slots do not come back with time', async (store, { advance }) => {
    await callsOf(store).spend([slots.take('id', 'h', { count: 2 })]);
    await advance(20);
    await assertHeld(store, { id: 2 });
  }),

  ofSlots('a transaction holds as many slots as its increment, or none', async (store) => {
    await callsOf(store).spend([slots.take('id', 'a', { count: 2 })]);
    await assertHeld(store, { id: 2 });
    await callsOf(store).spend([slots.take('id', 'b', { count: 2 })]);
    await assertHeld(store, { id: 2 });
    await callsOf(store).spend([slots.take('id', 'c', { count: 0 })]);
    await assertHeld(store, { id: 2 });
  }),

  ofSlots('a transaction with less room leaves slots to the others', async (store) => {
    const modest = (holder: string) => slots.take('id', holder, { fit: SLOTS - 1 });
    for (const holder of ['a', 'b', 'c']) await callsOf(store).spend([modest(holder)]);
    await assertHeld(store, { id: SLOTS - 1 });
    await callsOf(store).spend([slots.take('id', 'd')]);
    await assertHeld(store, { id: SLOTS });
  }),

  ofSlots('a spend-only holds slots when they fit, and otherwise none, and denies nothing', async (store) => {
    const batch = (holder: string) => [slots.take('id', holder, { count: 2, mode: 'spend-only' }), slow.spend('id')];
    for (const holder of ['a', 'b']) await callsOf(store).spend(batch(holder));
    await assertHeld(store, { id: 2 });
    assert.ok(!fitted(await callsOf(store).check([slow.spend('id', 4)]), slow.spend('id', 4)), 'the batch was denied');
  }),

  ofSlots('a check-only holds nothing, and denies its batch when it does not fit', async (store) => {
    const look = (count: number) => slots.take('id', 'look', { count, mode: 'check-only' });
    await callsOf(store).spend([look(SLOTS), slots.take('first', 'a')]);
    await assertHeld(store, { id: 0, first: 1 });
    await callsOf(store).spend([slots.take('id', 'b')]);
    await callsOf(store).spend([look(SLOTS), slots.take('second', 'c')]);
    await assertHeld(store, { id: 1, second: 0 });
  }),

  ofSlots('check holds nothing, whatever the modes are', async (store) => {
    const modes = ['check-and-spend', 'check-only', 'spend-only'] as const;
    const batch = modes.map((mode) => slots.take(mode, 'h', { mode }));
    assert.deepEqual((await callsOf(store).check(batch)).levelsTicks, [0, 0, 0]);
    assert.deepEqual((await callsOf(store).check(batch)).levelsTicks, [0, 0, 0]);
  }),

  ofSlots('a batch that a rate denies holds no slot', async (store) => {
    await callsOf(store).spend([slow.spend('id', 5)]);
    const spare = slots.take('spare', 'b', { mode: 'spend-only' });
    const reading = await callsOf(store).spend([slots.take('id', 'a'), spare, slow.spend('id')]);
    assert.deepEqual(reading.levelsTicks.slice(0, 2), [0, 0]);
    await assertHeld(store, { id: 0, spare: 0 });
  }),

  ofSlots('a batch that is denied for want of a slot takes no token', async (store) => {
    await callsOf(store).spend([slots.take('id', 'a', { count: SLOTS })]);
    const reading = await callsOf(store).spend([slow.spend('id', 5), slots.take('id', 'b')]);
    assert.deepEqual(reading.levelsTicks, [0, SLOTS]);
    assert.deepEqual((await callsOf(store).check([slow.spend('id')])).levelsTicks, [0]);
  }),

  ofSlots('a batch that passes takes tokens and holds slots', async (store) => {
    await callsOf(store).spend([slow.spend('id', 5), slots.take('id', 'a'), slots.take('other', 'a', { count: 2 })]);
    await assertHeld(store, { id: 1, other: 2 });
    assert.ok(!fitted(await callsOf(store).check([slow.spend('id')]), slow.spend('id')), 'the tokens were not taken');
  }),

  ofSlots('the first alternative that passes holds its slots, and no other does', async (store) => {
    await callsOf(store).spend([slots.take('full', 'a', { count: SLOTS })]);
    const readings = await callsOf(store).spendFirst([
      [slots.take('id', 'b'), slots.take('full', 'b')],
      [slots.take('id', 'c', { count: 2 }), slow.spend('id')],
      [slots.take('next', 'd')],
    ]);
    assert.deepEqual(
      readings.map(({ levelsTicks }) => levelsTicks),
      [
        [0, SLOTS],
        [0, 0],
      ],
    );
    await assertHeld(store, { full: SLOTS, id: 2, next: 0 });
  }),

  ofSlots('a bucket of slots and one of tokens are two buckets, whatever their names are', async (store) => {
    const tokens = new SampleLimit('Slots', 3, slow.emissionIntervalTicks);
    const level = async () => (await callsOf(store).check([tokens.spend('id')])).levelsTicks[0]!;
    await callsOf(store).spend([slots.take('id', 'a', { count: 2 })]);
    assert.equal(await level(), 0);
    await callsOf(store).spend([tokens.spend('id', 3)]);
    await assertHeld(store, { id: 2 });
    await callsOf(store).reset([{ limit: 'Slots', id: 'id', slots: true }]);
    await assertHeld(store, { id: 0 });
    assert.ok((await level()) > 0, 'the tokens were reset');
    await callsOf(store).spend([slots.take('id', 'b')]);
    await callsOf(store).reset([{ limit: 'Slots', id: 'id' }]);
    assert.equal(await level(), 0);
    await assertHeld(store, { id: 1 });
  }),

  ofSlots('reset frees all slots of a bucket', async (store) => {
    await callsOf(store).spend([slots.take('id', 'a', { count: 2 }), slots.take('other', 'a')]);
    await callsOf(store).spend([slots.take('id', 'b')]);
    await callsOf(store).reset([
      { limit: 'Slots', id: 'id', slots: true },
      { limit: 'Slots', id: 'unknown', slots: true },
    ]);
    await assertHeld(store, { id: 0, other: 1 });
    await callsOf(store).spend([slots.take('id', 'c', { count: SLOTS })]);
    await assertHeld(store, { id: SLOTS });
  }),

  ofSlots('renew and release of no slots do nothing', async (store) => {
    await callsOf(store).renew([]);
    await callsOf(store).release([]);
  }),

  ...(['renew', 'release'] as const).map((call) =>
    ofSlots(`after close ${call}, of a store with slots, is the error ERR_CLOSED`, async (store) => {
      await store.close();
      const held = slots.held('id', 'h');
      await assert.rejects(async () => callsOf(store)[call]([held]), { name: 'SluiceError', code: 'ERR_CLOSED' });
    }),
  ),
];
