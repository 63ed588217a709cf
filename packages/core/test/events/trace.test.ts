import { tracingChannel } from 'node:diagnostics_channel';
import { createLimiter, type Decision, type Store } from '@sluice/core';
import type { TraceMessage } from '@sluice/core/metrics';
import { FakeTime } from '@sluice/core/testing';
import { expect, onTestFinished, test } from 'vitest';
import { accountLimits, limiterOnFakeTime } from '../support/limiter-on-fake-time.ts';
import { later } from '../support/later-store.ts';

const orders = [{ limit: 'Orders', id: '7' }];

/** What is traced from now on: the steps of each decision, and its message at the end. */
function traces() {
  const steps: string[] = [];
  const ended: (TraceMessage & { readonly result?: Decision })[] = [];
  const add = (step: string) => (): void => void steps.push(step);
  const subscribers = {
    start: add('start'),
    end: add('end'),
    asyncStart: add('asyncStart'),
    asyncEnd: (message: object): void => {
      steps.push('asyncEnd');
      ended.push(message as TraceMessage);
    },
    error: add('error'),
  };
  const channel = tracingChannel('sluice:decide');
  channel.subscribe(subscribers);
  onTestFinished(() => {
    channel.unsubscribe(subscribers);
  });
  return { steps, ended };
}

function limiterOn(store: Store, time: FakeTime) {
  return createLimiter({ limits: accountLimits({ Orders: { count: 1, period: '1m' } }), store, time, log: false });
}

test('tracing:sluice:decide surrounds a decision that takes time, with its limits and its result', async () => {
  const { steps, ended } = traces();
  const time = new FakeTime();
  const limiter = limiterOn(later(time), time);
  const decision = await limiter.spend(orders);
  expect(steps).toEqual(['start', 'end', 'asyncStart', 'asyncEnd']);
  expect(ended).toEqual([{ limiter, limits: ['Orders'], result: decision }]);
});

test('tracing:sluice:decide surrounds alternatives as one decision', async () => {
  const { ended } = traces();
  const time = new FakeTime();
  const limiter = limiterOn(later(time), time);
  await limiter.spend({ firstOf: [orders, [{ limit: 'Orders', id: '8' }]] });
  expect(ended).toMatchObject([{ limits: ['Orders'], result: { outcome: 'allowed' } }]);
});

test('tracing:sluice:decide is silent with the memory store', () => {
  const { steps } = traces();
  const { limiter } = limiterOnFakeTime({ Orders: { count: 1, period: '1m' } });
  expect(limiter.spendSync(orders).allowed).toBe(true);
  expect(steps).toEqual([]);
});
