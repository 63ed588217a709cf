import { type Decision, type DecisionContext, type LimiterOptions } from '@sluice/core';
import { expect, test } from 'vitest';
import { accountLimits, limiterOnFakeTime } from '../support/limiter-on-fake-time.ts';
import { thrown } from '../support/thrown.ts';

const numbers = { Orders: { count: 1, period: '1m' } };
const orders = [{ limit: 'Orders', id: '7' }];

function listened(options: Partial<LimiterOptions> = {}) {
  const told: [decision: Decision, context: DecisionContext][] = [];
  const onDecision = (...args: [Decision, DecisionContext]): unknown => told.push(args);
  return { told, ...limiterOnFakeTime(numbers, { onDecision, ...options }) };
}

test('onDecision is called with each decision that spend returns', () => {
  const { limiter, told } = listened();
  const decisions = [limiter.spendSync(orders), limiter.spendSync(orders), limiter.spendSync([])];
  expect(decisions.map(({ outcome }) => outcome)).toEqual(['allowed', 'denied', 'allowed']);
  expect(told.map(([decision]) => decision)).toEqual(decisions);
  expect(told.at(0)?.[0]).toBe(decisions[0]);
  expect(told.map(([, context]) => context)).toEqual([{ shadow: false }, { shadow: false }, { shadow: false }]);
});

test('onDecision is called with an asynchronous decision when it is made', async () => {
  const { limiter, told } = listened({ overrides: () => Promise.resolve(undefined) });
  const decision = limiter.spend(orders);
  expect(told).toEqual([]);
  const made = await decision;
  expect(told.map(([one]) => one)).toEqual([made]);
});

test('onDecision is called for a blocked id', () => {
  const { limiter, told } = listened({ overrides: { Orders: { '7': 'blocked' } } });
  limiter.spendSync(orders);
  expect(told).toMatchObject([[{ outcome: 'denied', blocked: true }, { shadow: false }]]);
});

test('onDecision is not called for a check, charge, refund or reset', async () => {
  const { limiter, told } = listened();
  for (const call of ['check', 'charge', 'refund', 'reset'] as const) await limiter[call](orders);
  expect(told).toEqual([]);
});

test('onDecision is not called for wrong arguments, which are an error', () => {
  const { limiter, told } = listened();
  expect(thrown(() => limiter.spendSync([{ limit: 'Orders', id: '7', cost: 2 }])).code).toBe('ERR_COST_OVER_BURST');
  expect(told).toEqual([]);
});

test.each([
  ['throws', () => { throw new Error('boom'); }], // prettier-ignore
  ['rejects', () => Promise.reject(new Error('boom'))],
])('an onDecision that %s harms nothing, and is an event', async (_how, onDecision) => {
  const { limiter, events } = listened({ onDecision });
  expect(limiter.spendSync(orders).allowed).toBe(true);
  await new Promise(setImmediate);
  expect(events).toMatchObject([
    { type: 'callback-failed', callback: 'onDecision', message: expect.stringContaining('boom') as string },
  ]);
});

test('an onDecision that is not a function is rejected', () => {
  const error = thrown(() => limiterOnFakeTime(numbers, { onDecision: 'log' as never }));
  expect(error.code).toBe('ERR_OPTION');
  expect(error.message).toContain('`onDecision` must be a function');
});

test('onDecision is called after replace too', () => {
  const { limiter, told } = listened();
  limiter.replace({ limits: accountLimits({ Reads: { count: 5, period: '1m' } }) });
  limiter.spendSync([{ limit: 'Reads', id: '7' }]);
  expect(told).toMatchObject([[{ limit: 'Reads' }, { shadow: false }]]);
});
