import { memoryStore } from '@sluice/core';
import { FakeTime } from '@sluice/core/testing';
import { expect, test } from 'vitest';
import { inShortPeriod } from '../../src/testing/sample-quota.ts';
import type { StoreUnderTest } from '../../src/testing/store-case.ts';

function underTest(): Pick<StoreUnderTest, 'store' | 'advance'> {
  const time = new FakeTime();
  return { store: memoryStore({ time }), advance: (ms) => time.advance(ms) };
}

test('a test that fails after its period has ended is tried again with another id', async () => {
  const subject = underTest();
  const ids: string[] = [];
  await inShortPeriod(subject, async (_quota, id) => {
    ids.push(id);
    if (ids.length > 1) return;
    await subject.advance(1000);
    throw new Error('too slow');
  });
  expect(new Set(ids).size).toBe(2);
});

test('a test that fails within its period, or after it has waited for the end, is tried once', async () => {
  for (const waits of [false, true]) {
    let tries = 0;
    const tried = inShortPeriod(underTest(), async (_quota, _id, pass) => {
      tries++;
      if (waits) await pass();
      throw new Error('wrong');
    });
    await expect(tried).rejects.toThrow('wrong');
    expect(tries).toBe(1);
  }
});

test('a test that is always too slow fails in the end', async () => {
  const subject = underTest();
  let tries = 0;
  const tried = inShortPeriod(subject, async () => {
    tries++;
    await subject.advance(1000);
    throw new Error('too slow');
  });
  await expect(tried).rejects.toThrow('too slow');
  expect(tries).toBe(5);
});
