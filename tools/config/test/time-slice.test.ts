import { FakeTime } from '@sluice/core/testing';
import { expect, test } from 'vitest';
import { TimeSlice } from '../src/sources/time-slice.ts';

test('a slice is over after 4 ms, and the next one begins when the event loop has run', async () => {
  const time = new FakeTime();
  const slice = new TimeSlice(time);
  time.advance(3.999);
  expect(slice.isOver).toBe(false);
  time.advance(0.001);
  expect(slice.isOver).toBe(true);
  let hasPassed = false;
  const passed = slice.pass().then(() => (hasPassed = true));
  await Promise.resolve();
  expect([hasPassed, slice.isOver]).toEqual([false, true]);
  time.advance(0);
  await passed;
  expect(slice.isOver).toBe(false);
});
