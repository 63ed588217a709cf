import { accountId, createLimiter, type Decision } from '@sluice/core';
import { FakeTime } from '@sluice/core/testing';
import { expect, test } from 'vitest';
import type { Decided } from '../../src/decision/decided.ts';
import { QueuedDecisions } from '../../src/limiter/queued-decisions.ts';
import { sized } from '../../../../test/sized.ts';

const MANY = sized(4000, 20_000);
const noop = (): void => undefined;

test('a decision that is to wait after the end of all waits ends at once, gives its tokens back, and can not leave', async () => {
  const limits = { Exports: { key: accountId(() => null), burst: 1, count: 1, period: '1m', maxWait: '1h' } };
  const limiter = createLimiter({ limits, time: new FakeTime(), log: false });
  const given: Decision[] = [];
  const ends: string[] = [];
  const queued = new QueuedDecisions({
    time: new FakeTime(),
    refund: (decision) => void given.push(decision),
    noteLate: noop,
  });
  queued.close();
  const decision = await limiter.spend([{ limit: 'Exports', id: 'a' }]);
  const leave = queued.add(decision as Decided, (how) => ends.push(how));
  expect([ends, given, leave()]).toEqual([['closed'], [decision], false]);
});

test(`${MANY} requests with ids of their own leave the queue in the order in which they came`, async () => {
  const time = new FakeTime();
  const limits = { Exports: { key: accountId(() => null), burst: 1, count: 1, period: '1m', maxWait: '1h' } };
  const limiter = createLimiter({ limits, time, log: false });
  const waits: { readonly leaving: AbortController; readonly ended: Promise<unknown> }[] = [];
  for (let i = 0; i < MANY; i++) {
    const leaving = new AbortController();
    const entries = [{ limit: 'Exports', id: `client ${i}` }] as const;
    void limiter.spend(entries);
    const ended = Promise.resolve(limiter.spend(entries, { wait: true, signal: leaving.signal })).catch(() => 'left');
    waits.push({ leaving, ended });
  }
  for (const { leaving } of waits) leaving.abort();
  expect(new Set(await Promise.all(waits.map(({ ended }) => ended)))).toEqual(new Set(['left']));
  for (const id of ['client 0', `client ${MANY - 1}`]) {
    // One token is taken, and that of the wait was given back.
    expect((await limiter.check([{ limit: 'Exports', id }])).resetAfterMs).toBe(60_000);
  }
});

test('the last turn of a queue is given back at once, also if a decision with a sooner turn came after it', async () => {
  const time = new FakeTime();
  const limits = { Exports: { key: accountId(() => null), burst: 1, count: 1, period: '1m', maxWait: '1h' } };
  const limiter = createLimiter({ limits, time, log: false });
  const entries = [{ limit: 'Exports', id: 'a' }] as const;
  const given: Decision[] = [];
  const queued = new QueuedDecisions({ time, refund: (decision) => void given.push(decision), noteLate: noop });
  await limiter.spend(entries);
  await limiter.spend(entries);
  const afterTwoMinutes = await limiter.spend(entries);
  await limiter.reset(entries);
  await limiter.spend(entries);
  const afterOneMinute = await limiter.spend(entries);
  const leave = queued.add(afterTwoMinutes as Decided, () => undefined);
  queued.add(afterOneMinute as Decided, () => undefined);
  expect([leave(), given]).toEqual([true, [afterTwoMinutes]]);
});
