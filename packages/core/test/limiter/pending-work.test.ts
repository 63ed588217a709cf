import { expect, test } from 'vitest';
import { PendingWork } from '../../src/limiter/pending-work.ts';
import { CountedTime } from '../support/counted-time.ts';
import { deferred } from '../support/promises.ts';

test('nothing is waited for when no work has begun, or all has ended', async () => {
  const work = new PendingWork(new CountedTime());
  expect(work.track(5)).toBe(5);
  expect(work.ended()).toBeUndefined();
  await work.track(Promise.resolve());
  expect(work.ended()).toBeUndefined();
});

test('all work is waited for, whether it ends well or not, by each that waits', async () => {
  const time = new CountedTime();
  const work = new PendingWork(time);
  const [one, other] = [deferred<number>(), deferred<number>()];
  const tracked = [work.track(one.promise), Promise.allSettled([work.track(other.promise)])];
  const ended = Promise.all([work.ended(), work.ended()]);
  let isOver = false;
  void ended.then(() => (isOver = true));
  one.resolve(1);
  await one.promise;
  expect(isOver).toBe(false);
  other.reject(new Error('failed'));
  await Promise.all(tracked);
  await ended;
  expect(time.pending).toBe(0);
});

test('work that never ends is waited for no longer than a second', async () => {
  const time = new CountedTime();
  const work = new PendingWork(time);
  void work.track(new Promise(() => {}));
  const ended = work.ended();
  await time.pass(999);
  expect(time.pending).toBe(1);
  await time.pass(1);
  await ended;
  expect(time.pending).toBe(0);
});
