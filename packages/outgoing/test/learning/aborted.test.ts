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
  await turns();
  expect([scheduler.running, left()]).toEqual([0, 4]);
});

test.each([
  ['is aborted', async (leaving: AbortController) => leaving.abort(new Error('gone')), 'gone'],
  ['has no time left', (_: AbortController, time: FakeTime) => time.pass(2500), 'within the time given'],
])('what a request gives back that %s lets the next one begin at once', async (_, end, message) => {
  const time = new FakeTime();
  const limits = {
    Fast: { key, burst: 9, count: 9, period: '1s' },
    Slow: { key, burst: 3, count: 1, period: '25s' },
  } as const;
  const scheduler = createScheduler(createLimiter({ limits, time, log: false }));
  const fetch = denyingOnce();
  const limited = limitedFetch({ scheduler, fetch });
  await limited(url);
  await time.pass(2000);
  void limited(url);
  const leaving = new AbortController();
  const held = limitedFetch({ scheduler, fetch, within: '2500ms' })(url, { signal: leaving.signal });
  const error = held.catch((reason: unknown) => String(reason));
  void limited(url);
  await turns();
  expect([scheduler.running, scheduler.size]).toEqual([2, 1]);
  await end(leaving, time);
  expect(await error).toContain(message);
  await turns();
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

test('a request whose answer does not come lets the one that waits for it begin', async () => {
  const time = new FakeTime();
  const limiter = createLimiter({ limits: { Month: quota({ key, count: 9, per: 'month' }) }, time, log: false });
  const answers: { resolve(response: Response): void; reject(error: Error): void }[] = [];
  const fetch = (): Promise<Response> => new Promise((resolve, reject) => answers.push({ resolve, reject }));
  const limited = limitedFetch({ scheduler: createScheduler(limiter), fetch });
  void limited(url);
  answers[0]!.resolve(new Response(null, { headers: { 'x-ratelimit-remaining': '1' } }));
  await turns();
  const failed = limited(url).catch((error: unknown) => String(error));
  void limited(url);
  await turns();
  expect(answers).toHaveLength(2);
  answers[1]!.reject(new Error('the connection was lost'));
  expect(await failed).toBe('Error: the connection was lost');
  await turns();
  expect(answers).toHaveLength(3);
});
