import { accountId } from '@sluice/core';
import { quota } from '@sluice/core/quota';
import { expect, test } from 'vitest';
import type { HoldOptions } from '../../src/index.ts';
import { answer, learner, turns } from '../support/provider-answers.ts';

const key = accountId();
const LIMITS = { Requests: { key, count: 100, period: '1s' }, Tokens: { key, count: 1000, period: '1m' } } as const;
const NAMES = { learn: { tokens: 'Tokens' } } as const;
const USED_UP = { 'x-ratelimit-remaining-tokens': '0', 'x-ratelimit-reset-tokens': '9s' };

/** Begins calls of one id of requests, and of an own one of tokens each. */
function scene() {
  const { learning, time } = learner(LIMITS, NAMES);
  const log: string[] = [];
  const begin = (id: string, cost = 1, hold: HoldOptions = {}) => {
    const entries = [
      { limit: 'Requests', id: '7' },
      { limit: 'Tokens', id, cost },
    ];
    const call = Promise.resolve(learning.begin(entries, hold));
    void call.then(
      () => log.push(`${id}@${time.nowMs}`),
      (error: unknown) => log.push(`${id} failed: ${(error as Error).message.slice(0, 22)}`),
    );
    return call;
  };
  return { time, log, begin };
}

test('a call that waits for another limit lets those after it begin', async () => {
  const { time, log, begin } = scene();
  await answer(await begin('x'), 200, USED_UP);
  await answer(await begin('y'), 429, { 'retry-after': '2' });
  log.length = 0;
  for (const id of ['x', 'y']) void begin(id);
  await time.pass(1999);
  expect(log).toEqual([]);
  await time.pass(10_000);
  expect(log[0]).toBe('y@2000');
});

test('a call that has no time left when its turn comes lets those after it begin', async () => {
  const { time, log, begin } = scene();
  const first = await begin('x');
  await answer(await begin('x'), 200, { 'x-ratelimit-remaining-requests': '1' });
  log.length = 0;
  void begin('late', 1, { untilMicros: 5_000_000 }).catch(() => undefined);
  void begin('next');
  // The process stalls: the answer comes before the timers run.
  time.set(6000);
  first.ended();
  await turns();
  expect(log).toEqual(['late failed: The call was not begun', 'next@6000']);
});

test('a call that leaves lets those after it begin that fit', async () => {
  const { log, begin } = scene();
  await answer(await begin('x'), 200, { 'x-ratelimit-remaining-tokens': '5' });
  const one = await begin('x', 1);
  await begin('x', 2);
  const leaving = new AbortController();
  log.length = 0;
  void begin('x', 4, { signal: leaving.signal }).catch(() => undefined);
  void begin('x', 3);
  one.ended();
  await turns();
  expect(log).toEqual([]);
  leaving.abort(new Error('it has left'));
  await turns();
  expect(log.toSorted()).toEqual(['x failed: it has left', 'x@0']);
});

test('only limits that learn have a bucket of what was learnt', () => {
  const [one, both] = [learner(LIMITS), learner(LIMITS, NAMES)];
  for (const { send } of [one, both]) send();
  expect([one.learning.size, both.learning.size]).toEqual([1, 2]);
});

test('what is said of a limit that a call does not take from is learnt as if it had no name', async () => {
  const { learning, waitMs } = learner(LIMITS, NAMES);
  await answer(await learning.begin([{ limit: 'Requests', id: '7' }]), 200, USED_UP);
  expect([waitMs('Requests'), waitMs('Tokens')]).toEqual([9000, 0]);
});

test('what is left of requests is not learnt by a limit of tokens', async () => {
  const { send, left } = learner({ Tokens: { key, count: 1000, period: '1m' } });
  await answer(send({ Tokens: 200 }), 200, { ratelimit: '"a";r=20;t=10' });
  expect(left('Tokens')).toBe(1000);
});

test('what is left of tokens is not learnt by a limit of requests', async () => {
  const { send, left } = learner(LIMITS);
  await answer(send(), 200, { 'x-ratelimit-remaining-requests': '50', 'x-ratelimit-remaining-tokens': '30' });
  expect([left('Requests'), left('Tokens')]).toEqual([50, 1000]);
});

test('requests are learnt by the limit that is named for them, though another one fills faster', async () => {
  const { send, waitMs } = learner(LIMITS, { learn: { requests: 'Tokens' } });
  await answer(send(), 429, { 'retry-after': '30' });
  expect([waitMs('Requests'), waitMs('Tokens')]).toEqual([0, 30_000]);
});

test('a rate learns before a quota', async () => {
  const limits = { Month: quota({ key, count: 100, per: 'month' }), Api: { key, count: 10, period: '1h' } };
  const { send, waitMs } = learner(limits);
  await answer(send(), 429, { 'retry-after': '30' });
  expect([waitMs('Month'), waitMs('Api')]).toEqual([0, 30_000]);
});

test('a denial is learnt by one limit of a call', async () => {
  const { send, waitMs } = learner(LIMITS, NAMES);
  await answer(send(), 429, { 'retry-after': '30' });
  expect([waitMs('Requests'), waitMs('Tokens')]).toEqual([30_000, 0]);
});
