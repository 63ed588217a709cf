import { memoryStore } from '@sluice/core';
import { callsOf, FakeTime } from '@sluice/core/testing';
import { expect, test } from 'vitest';
import { LocalStore } from '../../../src/kinds/concurrency/local-store.ts';

const slots = { limit: 'InFlight', id: 'a', slots: true, incrementTicks: 1, fitTicks: 2, capTicks: 2 } as const;
const rate = { limit: 'Orders', id: 'a', incrementTicks: 1000, fitTicks: 3000, capTicks: 3000 } as const;
const take = 'check-and-spend';

function started(level = 0) {
  const tokens = memoryStore({ time: new FakeTime() });
  return { tokens, store: new LocalStore(tokens, () => level) };
}

test('slots are what the process holds: the store counts none itself', () => {
  const { store } = started(1);
  for (let i = 0; i < 3; i++) expect(callsOf(store).spend([{ ...slots, mode: take }]).levelsTicks).toEqual([1]);
});

test('tokens are taken only if the slots fit', () => {
  const batch = [
    { ...rate, mode: take },
    { ...slots, mode: take },
  ] as const;
  const free = started(1);
  expect([callsOf(free.store).spend(batch).levelsTicks, callsOf(free.store).check(batch).levelsTicks]).toEqual([
    [0, 1],
    [1000, 1],
  ]);
  const full = started(2);
  expect([callsOf(full.store).spend(batch).levelsTicks, callsOf(full.store).check(batch).levelsTicks]).toEqual([
    [0, 2],
    [0, 2],
  ]);
});

test('of alternatives the first whose slots and tokens fit is taken', () => {
  const { store } = started(1);
  const large = { ...slots, incrementTicks: 2, mode: take } as const;
  const one = { ...rate, mode: take } as const;
  expect(
    callsOf(store)
      .spendFirst([[large, one], [one]])
      .map(({ levelsTicks }) => levelsTicks),
  ).toEqual([[1, 0], [0]]);
  expect(
    callsOf(store)
      .spendFirst([[one], [large]])
      .map(({ levelsTicks }) => levelsTicks),
  ).toEqual([[1000]]);
});

test('closing it closes its tokens', () => {
  const { store, tokens } = started();
  store.close();
  expect(() => tokens.stats()).toThrow('closed');
});
