import { createLimiter, memoryStore, type Limiter, type Store } from '@sluice/core';
import { storeGuard, type StoreHold } from '@sluice/core/store';
import { FakeTime } from '@sluice/core/testing';
import { describe, expect, test, vi } from 'vitest';
import { holding, holdingRemotely, limitsOf, slot } from './support/holding.ts';

const IN_FLIGHT = { InFlight: { concurrency: 3, expiry: '6s' } };

test('a slot is held far longer than its expiry', async () => {
  const { hold, inStore, time } = holding(IN_FLIGHT);
  const held = hold(slot());
  for (let s = 0; s < 3600; s++) {
    time.advance(1000);
    expect(inStore()).toBe(1);
  }
  await held.release();
  expect(inStore()).toBe(0);
});

test('without renewals it would be free after its expiry', () => {
  const { hold, inStore, time } = holding(IN_FLIGHT);
  hold(slot());
  // The clock moves, and no timer runs.
  time.set(time.nowMs + 5999.999);
  expect(inStore()).toBe(1);
  time.set(time.nowMs + 0.001);
  expect(inStore()).toBe(0);
});

test('a slot is renewed after a third of its expiry', async () => {
  const { hold, time, store } = holdingRemotely(IN_FLIGHT);
  await hold(slot());
  store.named();
  await time.pass(1999.999);
  expect(store.named()).toEqual([]);
  await time.pass(0.001);
  expect(store.calls.splice(0)).toMatchObject([
    { name: 'renew', batch: [{ limit: 'InFlight', id: 'a', expiryMs: 6000, first: 1, count: 1 }] },
  ]);
});

test('one call renews all slots of one expiry of which a sixth has passed', async () => {
  const { hold, time, store } = holdingRemotely({
    ...IN_FLIGHT,
    Other: { concurrency: 3, expiry: '6s' },
    Long: { concurrency: 3, expiry: '1m' },
  });
  await hold(slot({ cost: 2 }), slot({ limit: 'Long' }));
  await time.pass(1000);
  await hold(slot({ limit: 'Other', id: 'b' }));
  await time.pass(500);
  await hold(slot({ limit: 'Other', id: 'c' }));
  store.named();
  await time.pass(500);
  const renewed = store.calls.splice(0).map(({ name, batch }) => [name, ...(batch as StoreHold[]).map(({ id }) => id)]);
  expect(renewed).toEqual([['renew', 'a', 'b']]);
  // Then c, when a third of its expiry has passed, with those of which a sixth has passed since.
  await time.pass(1500);
  expect(store.calls.splice(0)).toMatchObject([{ name: 'renew', batch: [{ id: 'c' }, { id: 'a' }, { id: 'b' }] }]);
  await time.pass(16_499);
  expect(store.calls.every(({ batch }) => (batch as StoreHold[]).every(({ expiryMs }) => expiryMs === 6000))).toBe(
    true,
  );
  store.named();
  await time.pass(1);
  expect(store.calls.some(({ batch }) => (batch as StoreHold[]).at(0)?.expiryMs === 60_000)).toBe(true);
});

test('a slot is renewed at its own time, also when the one before it was released', async () => {
  const { hold, time, store } = holdingRemotely(IN_FLIGHT);
  const first = await hold(slot());
  await time.pass(1500);
  await hold(slot({ id: 'b' }));
  await first.release();
  store.named();
  await time.pass(1999);
  expect(store.named()).toEqual([]);
  await time.pass(1);
  expect(store.named()).toEqual(['renew']);
});

test('no timer is left when nothing is held, and none ever keeps the process alive', async () => {
  const { hold, time } = holding({ ...IN_FLIGHT, Other: { concurrency: 4 } });
  const alarm = vi.spyOn(time, 'alarm');
  const all = [hold(slot()), hold(slot({ id: 'b' }), slot({ limit: 'Other' }))];
  expect(time.pending).toBe(0);
  expect(alarm).toHaveBeenCalled();
  time.advance(7000);
  for (const held of all) await held.release();
  time.advance(7000);
  alarm.mockClear();
  time.advance(600_000);
  expect(alarm).not.toHaveBeenCalled();
});

test('slots that are held shorter than a third of their expiry cost one timer, and no renewal', async () => {
  const { hold, time, store } = holdingRemotely(IN_FLIGHT);
  const alarm = vi.spyOn(time, 'alarm');
  const longest = await hold(slot());
  const set = alarm.mock.calls.filter(([ms]) => ms === 2000).length;
  for (let i = 0; i < 10; i++) await (await hold(slot())).release();
  expect(alarm.mock.calls.filter(([ms]) => ms === 2000)).toHaveLength(set);
  await longest.release();
  expect(store.named()).not.toContain('renew');
});

describe('a renewal that fails', () => {
  const ways = { 'with an error': new Error('down'), 'without an answer': 'hangs' } as const;

  test.each(Object.entries(ways))('%s is made again before the slots expire', async (_, manner) => {
    const { hold, time, store, inStore } = holdingRemotely(IN_FLIGHT);
    await hold(slot());
    await time.pass(1990);
    store.manner = manner;
    await time.pass(1000);
    store.manner = 'answers';
    await time.pass(1000);
    store.named();
    await time.pass(1100);
    expect(store.named()).toEqual(['renew']);
    for (let s = 0; s < 20; s++) {
      await time.pass(1000);
      expect(inStore()).toBe(1);
    }
  });

  test('because the store was closed is ignored', async () => {
    const { hold, time, store, limiter } = holding(IN_FLIGHT);
    const held = hold(slot());
    store.close();
    time.advance(10_000);
    await expect(held.release()).resolves.toBeUndefined();
    await limiter.close();
  });

  test('because the clock of the process stood still too long brings the slot back', () => {
    const { hold, time, inStore } = holding(IN_FLIGHT);
    hold(slot());
    time.set(time.nowMs + 60_000);
    expect(inStore()).toBe(0);
    time.advance(0);
    expect(inStore()).toBe(1);
    time.advance(60_000);
    expect(inStore()).toBe(1);
  });
});

test('a listener may hold slots while others are renewed, and one timer remains for all', () => {
  const time = new FakeTime(1000);
  const memory = memoryStore({ time });
  let isDown = false;
  // It answers at once, but can fail.
  const store: Store = {
    guard: storeGuard,
    traits: { slots: true },
    run: (operation) => {
      if (isDown && operation.kind === 'check') throw new Error('down');
      return memory.run(operation);
    },
    close: () => memory.close(),
  };
  const limiter: Limiter = createLimiter({
    limits: limitsOf({ Busy: { concurrency: 9, expiry: '6s' } }),
    store,
    time,
    log: false,
    onEvent: ({ type }) =>
      type === 'store-recovered' && all.push(limiter.spend([{ limit: 'Busy', id: 'b' }], { hold: true })),
  });
  const all: unknown[] = [limiter.spend([{ limit: 'Busy', id: 'a' }], { hold: true })];
  isDown = true;
  for (let i = 0; i < 3; i++) {
    time.advance(50);
    void limiter.check([{ limit: 'Busy', id: 'a' }]);
  }
  isDown = false;
  time.advance(2000);
  expect(all).toHaveLength(2);
  const alarm = vi.spyOn(time, 'alarm');
  time.advance(60_000);
  // One every two seconds.
  expect(alarm).toHaveBeenCalledTimes(30);
});
