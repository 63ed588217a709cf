import { memoryStore } from '@sluice/core';
import type { StoreTransaction } from '@sluice/core/store';
import { callsOf, FakeTime } from '@sluice/core/testing';
import { expect, test } from 'vitest';
import { sized } from '../../../../../test/sized.ts';

const TURNS = sized(150_000, 500_000);
const EXPIRY_MS = 10_000;

/** The heap in use, in bytes. */
function heapBytes(): number {
  globalThis.gc!();
  return process.memoryUsage().heapUsed;
}

test.each([
  { what: 'of one id', idOf: () => 'one' },
  { what: 'of an id each', idOf: (i: number) => `id ${i}` },
  { what: 'of a few ids, while another slot is held all the time', idOf: (i: number) => `id ${i % 7}`, isBeside: true },
])('slots that are held and released leave no memory behind: $what', ({ idOf, isBeside = false }) => {
  const store = memoryStore({ time: new FakeTime() });
  const hold = (id: string, holder: string): void => {
    const holding = { holder, expiryMs: EXPIRY_MS };
    const slot: StoreTransaction = {
      limit: 'InFlight',
      id,
      slots: true,
      incrementTicks: 1,
      fitTicks: 10,
      capTicks: 10,
      mode: 'check-and-spend',
      holding,
    };
    callsOf(store).spend([slot]);
  };
  const turn = (i: number): void => {
    const id = idOf(i);
    hold(id, String(i));
    callsOf(store).release([
      { limit: 'InFlight', id, slots: true, holder: String(i), expiryMs: EXPIRY_MS, first: 1, count: 1 },
    ]);
  };
  if (isBeside) hold('beside', 'beside');
  for (let i = 0; i < TURNS; i++) turn(i);
  const before = heapBytes();
  for (let i = 0; i < TURNS; i++) turn(i);
  // 150 bytes of each turn were 75 MB.
  expect(heapBytes() - before).toBeLessThan(2e6);
});
