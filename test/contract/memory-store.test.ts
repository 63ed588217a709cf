import { memoryStore, type Time } from '@sluice/core';
import { systemTime } from '@sluice/core/kit';
import { callsOf, FakeTime, storeContract } from '@sluice/core/testing';
import { describe, expect, test } from 'vitest';
import { realDelay } from '../real-delay.ts';

const MAX_KEYS = 1000;
const CHARGE = { limit: 'Mails', incrementTicks: 2 ** 50, capTicks: 2 ** 50 };

/** A store that reports evictions whenever `provokeReport` has filled it: at most once in ten minutes, which it skips. */
function reportingStore(time: Time, skip: (ms: number) => void) {
  const store = memoryStore({ time, maxKeys: MAX_KEYS });
  let ids = 0;
  const provokeReport = (): void => {
    skip(600_000);
    for (let i = 0; i <= MAX_KEYS; i++) callsOf(store).charge([{ ...CHARGE, id: `${ids++}` }]);
  };
  return { store, provokeReport };
}

describe('the memory store keeps the contract of stores', () => {
  const cases = storeContract({
    clock: 'steered',
    create() {
      const time = new FakeTime();
      const advance = (ms: number): void => time.advance(ms);
      return { ...reportingStore(time, advance), advance, stepBack: (ms) => time.set(time.nowMs - ms) };
    },
  });
  test.each(cases)('$name', async ({ run }) => expect(run()).resolves.toBeUndefined());
});

describe('the memory store keeps it on the real clock', () => {
  const cases = storeContract({
    clock: 'real',
    create() {
      let skippedMicros = 0;
      const time = { ...systemTime, nowMicros: () => systemTime.nowMicros() + skippedMicros };
      return { ...reportingStore(time, (ms) => (skippedMicros += ms * 1000)), advance: realDelay };
    },
  });
  test.each(cases)('$name', async ({ run }) => expect(run()).resolves.toBeUndefined());
});
