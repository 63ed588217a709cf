import { expect, test } from 'vitest';
import { CallDeadlines, checkDeadline } from '../../src/time/call-deadlines.ts';
import { FakeTime } from '../../src/testing/fake-time.ts';
import { thrown } from '../support/thrown.ts';

const never = new Promise<never>(() => {});

test('each call has the deadline that it brings, rounded up to a millisecond', async () => {
  const time = new FakeTime();
  const deadlines = new CallDeadlines(time);
  const missed: number[] = [];
  for (const ms of [50, 20.4, 50, 100]) {
    deadlines
      .of(ms)
      .race(never, () => ms)
      .catch((late: unknown) => missed.push(late as number));
  }
  await time.pass(20.9);
  expect(missed).toEqual([]);
  await time.pass(0.1);
  expect(missed).toEqual([20.4]);
  await time.pass(29);
  expect(missed).toEqual([20.4, 50, 50]);
  await time.pass(50);
  expect(missed).toEqual([20.4, 50, 50, 100]);
  expect(time.pending).toBe(0);
});

test('thousands of different deadlines are kept too, and all can be ended at once', async () => {
  const time = new FakeTime();
  const deadlines = new CallDeadlines(time);
  let missed = 0;
  for (let ms = 1; ms <= 1000; ms++) await deadlines.of(ms).race(Promise.resolve(), () => ms);
  for (let ms = 1; ms <= 1000; ms++)
    deadlines
      .of(ms)
      .race(never, () => ms)
      .catch(() => missed++);
  await time.pass(500);
  expect(missed).toBe(500);
  deadlines.expireAll();
  await time.pass(0);
  expect(missed).toBe(1000);
  expect(time.pending).toBe(0);
});

test.each([0, -1, 60_001, Number.NaN, '50', undefined])('a deadline of %s is rejected', (deadlineMs) => {
  const error = thrown(() => checkDeadline(deadlineMs));
  expect(error.code).toBe('ERR_OPTION');
  expect(error.message).toContain('`deadlineMs` must be a number of milliseconds above 0, at most 60000');
});

test.each([0.5, 60_000])('a deadline of %s ms is accepted', (deadlineMs) => {
  expect(() => checkDeadline(deadlineMs)).not.toThrow();
});
