import { expect, test } from 'vitest';
import { StoreTime } from '../../../src/store/memory/store-time.ts';
import { FakeTime } from '../../../src/testing/fake-time.ts';

const MS = 16_000;

/** The time of a store that was read when its clock was as it is now. */
function storeTime(clock: FakeTime): StoreTime {
  const time = new StoreTime(clock);
  time.nowTicks();
  return time;
}

test('the time of a store starts at 0 when it is first read, and follows its clock', () => {
  const clock = new FakeTime();
  const time = new StoreTime(clock);
  // Its clock may begin later than the store: in a Worker it shows 0 while a module is loaded.
  clock.set(1.8e12);
  expect(time.nowTicks()).toBe(0);
  clock.advance(2.5);
  expect(time.nowTicks()).toBe(2.5 * MS);
});

test('it follows a clock that steps back by up to a second: a clock that swings grants nothing', () => {
  const clock = new FakeTime();
  const time = storeTime(clock);
  clock.advance(5000);
  expect(time.nowTicks()).toBe(5000 * MS);
  clock.set(4000);
  expect(time.nowTicks()).toBe(4000 * MS);
  clock.set(5000);
  expect(time.nowTicks()).toBe(5000 * MS);
});

test('a step back never brings it forward, also when a smaller one came before', () => {
  const clock = new FakeTime();
  const time = storeTime(clock);
  clock.set(5000);
  time.nowTicks();
  clock.set(4500);
  expect(time.nowTicks()).toBe(4500 * MS);
  clock.set(0);
  expect(time.nowTicks()).toBe(4500 * MS);
  clock.set(-700);
  expect(time.nowTicks()).toBe(4500 * MS);
  clock.set(-200);
  expect(time.nowTicks()).toBe(5000 * MS);
});

test('it continues from its last value when the clock was set back by more', () => {
  const clock = new FakeTime();
  const time = storeTime(clock);
  clock.set(90_000_000);
  expect(time.nowTicks()).toBe(90_000_000 * MS);
  clock.set(0);
  expect(time.nowTicks()).toBe(90_000_000 * MS);
  clock.advance(10);
  expect(time.nowTicks()).toBe(90_000_010 * MS);
  clock.set(-5000);
  expect(time.nowTicks()).toBe(90_000_010 * MS);
});
