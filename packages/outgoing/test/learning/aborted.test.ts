import { createLimiter, everyone } from '@sluice/core';
import { quota } from '@sluice/core/quota';
import { createScheduler } from '@sluice/core/scheduler';
import { FakeTime } from '@sluice/core/testing';
import { limitedFetch } from '@sluice/outgoing';
import { expect, test } from 'vitest';
import { turns } from '../support/provider-answers.ts';

const [key, id] = [everyone(), 'everyone'];
const url = 'https://api.example.com';

/** A `fetch` whose first answer denies for a second, and whose further ones never come. */
function denyingOnce() {
  let calls = 0;
  return async (): Promise<Response> =>
    calls++ === 0 ? new Response(null, { status: 429, headers: { 'retry-after': '1' } }) : new Promise(() => undefined);
}

test('a request that is aborted while it is held back gives back what it has taken', async () => {
  const time = new FakeTime();
  const limiter = createLimiter({ limits: { Month: quota({ key, count: 5, per: 'month' }) }, time, log: false });
  const scheduler = createScheduler(limiter);
  const limited = limitedFetch({ scheduler, fetch: denyingOnce() });
  const left = () => limiter.checkSync([{ limit: 'Month', id, cost: 0 }]).remaining;
  await limited(url);
  const leaving = new AbortController();
  const held = limited(url, { signal: leaving.signal });
  await turns();
  expect([scheduler.running, left()]).toEqual([1, 3]);
  leaving.abort(new Error('gone'));
  await expect(held).rejects.toThrow('gone');
  expect([scheduler.running, left()]).toEqual([0, 4]);
});

test('what it gives back lets the next request begin at once', async () => {
  const time = new FakeTime();
  const limits = {
    Fast: { key, burst: 9, count: 9, period: '1s' },
    Slow: { key, burst: 3, count: 1, period: '25s' },
  } as const;
  const scheduler = createScheduler(createLimiter({ limits, time, log: false }));
  const limited = limitedFetch({ scheduler, fetch: denyingOnce() });
  await limited(url);
  await time.pass(2000);
  void limited(url);
  const leaving = new AbortController();
  const held = limited(url, { signal: leaving.signal });
  void limited(url);
  await turns();
  expect([scheduler.running, scheduler.size]).toEqual([2, 1]);
  leaving.abort(new Error('gone'));
  await expect(held).rejects.toThrow('gone');
  expect([scheduler.running, scheduler.size]).toEqual([2, 0]);
});

test('its error is the reason of the signal, also where its limiter was closed meanwhile', async () => {
  const time = new FakeTime();
  const limiter = createLimiter({ limits: { Month: quota({ key, count: 5, per: 'month' }) }, time, log: false });
  const limited = limitedFetch({ scheduler: createScheduler(limiter), fetch: denyingOnce() });
  await limited(url);
  const leaving = new AbortController();
  const held = limited(url, { signal: leaving.signal });
  await turns();
  await limiter.close();
  leaving.abort(new Error('gone'));
  await expect(held).rejects.toThrow('gone');
});
