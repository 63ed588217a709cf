import type { DecisionMessage } from '@sluice/core';
import { eventLoop } from '@sluice/core/load';
import { describe, expect, test } from 'vitest';
import { rejected } from '../../../support/thrown.ts';
import { fill, holding, holdingRemotely, slot } from './support/holding.ts';
import { callsOf } from '@sluice/core/testing';

const LIMITS = {
  InFlight: { concurrency: 3 },
  Here: { concurrency: 3, scope: 'process' },
  Rate: { count: 9, period: '1h' },
  Worker: { load: eventLoop() },
};

const calls = {
  spend: (limiter, limit) => limiter.spend([slot({ limit: 'Rate' }), slot({ limit })]),
  firstOf: (limiter, limit) => limiter.spend({ firstOf: [[slot({ limit: 'Rate' })], [slot({ limit })]] }),
  'check firstOf': (limiter, limit) => limiter.check({ firstOf: [[slot({ limit })]] }),
  charge: (limiter, limit) => limiter.charge([{ limit, id: 'a' }]),
  refund: (limiter, limit) => limiter.refund([{ limit, id: 'a' }]),
  usage: (limiter, limit) => limiter.usage([{ limit, id: 'a' }]),
  reset: (limiter, limit) => limiter.reset([{ limit, id: '1.2.3.4' }]),
} satisfies Record<string, (limiter: ReturnType<typeof holding>['limiter'], limit: string) => unknown>;

test.each([
  ['spend', 'Slots have to be released: add the option `hold: true`, and call `release()` of the decision.'],
  ['firstOf', 'Alternatives take tokens only: call `spend` with the entries of one batch and `hold: true`.'],
  ['check firstOf', 'Alternatives take tokens only: call `spend` with the entries of one batch and `hold: true`.'],
  ['charge', 'Slots are held and released, and not charged: leave it out.'],
  [
    'refund',
    'Slots are released with `release()` of the decision that holds them. To free all slots of an id, use `reset`.',
  ],
  ['usage', 'To see what is left of it without taking anything, use check('],
] as const)('%s is an error with a concurrency limit, and tells what to call', async (call, remedy) => {
  const { limiter, inStore } = holding(LIMITS);
  for (const limit of ['InFlight', 'Here']) {
    const { code, message } = await rejected(() => calls[call](limiter, limit));
    expect([code, message]).toEqual(['ERR_OPTION', expect.stringContaining(remedy)]);
    expect(message).toContain(`"${limit}"`);
  }
  expect([inStore(), limiter.checkSync([slot({ limit: 'Rate' })]).remaining]).toEqual([0, 9]);
});

test.each([
  ['firstOf', 'Call `check` or `spend` with the load limit alone before.'],
  ['check firstOf', 'Call `check` or `spend` with the load limit alone before.'],
  ['charge', 'It counts nothing: leave it out.'],
  ['refund', 'It counts nothing: leave the entry out.'],
  ['reset', 'To stop shedding, use the option `enabled` of its load.'],
  ['usage', 'is another kind of limit'],
] as const)('%s is an error with a load limit', async (call, remedy) => {
  const { limiter } = holding(LIMITS);
  const { code, message } = await rejected(() => calls[call](limiter, 'Worker'));
  expect([code, message]).toEqual(['ERR_OPTION', expect.stringContaining(remedy)]);
});

test.each(['InFlight', 'Worker'])('the mode `charge` is an error with %s, in each call', async (limit) => {
  const { limiter } = holding(LIMITS);
  const charged = [slot({ limit, id: '1.2.3.4', mode: 'charge' })];
  const spent = [{}, { hold: true }].map((options) => () => limiter.spend(charged, options));
  for (const call of [...spent, () => limiter.check(charged)]) {
    const error = await rejected(call);
    expect([error.code, error.message]).toEqual(['ERR_OPTION', expect.stringContaining("but was 'charge'")]);
  }
});

describe('reset', () => {
  test('frees all slots of an id, and of no other', async () => {
    const { hold, limiter, time, inStore } = holding(LIMITS);
    const held = await fill(() => hold(slot(), slot({ limit: 'Here' })));
    hold(slot({ id: 'b', cost: 2 }));
    void limiter.reset([
      { limit: 'InFlight', id: 'a' },
      { limit: 'Here', id: 'a' },
    ]);
    const again = await fill(() => hold(slot(), slot({ limit: 'Here' })));
    expect(again).toHaveLength(3);
    // What was held before does not come back, and its release frees nothing of others.
    time.advance(60_000);
    for (const each of held) await each.release();
    expect(inStore()).toBe(3);
    expect(hold(slot({ limit: 'Here' })).allowed).toBe(false);
    expect(hold(slot({ id: 'b', cost: 2 })).allowed).toBe(false);
  });

  test('of a limit of this process asks no store', async () => {
    const { hold, limiter, store } = holdingRemotely(LIMITS);
    await fill(() => hold(slot({ limit: 'Here' })));
    store.manner = new Error('down');
    await limiter.reset([{ limit: 'Here', id: 'a' }]);
    expect(await fill(() => hold(slot({ limit: 'Here' })))).toHaveLength(3);
    expect(store.named()).toEqual([]);
    expect(await rejected(() => limiter.reset([{ limit: 'InFlight', id: 'a' }]))).toMatchObject({
      code: 'ERR_STORE_UNAVAILABLE',
    });
  });

  test('slots that another process has in use come back with its next renewal', async () => {
    const one = holdingRemotely(LIMITS);
    await one.hold(slot({ cost: 2 }));
    callsOf(one.store.memory).reset([{ limit: 'InFlight', id: 'a', slots: true }]);
    expect(one.inStore()).toBe(0);
    await one.time.pass(3334);
    expect(one.inStore()).toBe(2);
  });
});

test('a decision of hold is reported once, to `onDecision` and to the diagnostics channel', async () => {
  const { channel } = await import('node:diagnostics_channel');
  const reported: unknown[] = [];
  const published: unknown[] = [];
  const { hold } = holding(LIMITS, {
    onDecision: ({ outcome, limit }, { shadow }) => reported.push([outcome, limit, shadow]),
  });
  const subscriber = (message: unknown) => {
    published.push((message as DecisionMessage).decision.outcome);
  };
  channel('sluice:decision').subscribe(subscriber);
  hold(slot({ cost: 3 }));
  hold(slot());
  hold(slot({ limit: 'Here' }));
  channel('sluice:decision').unsubscribe(subscriber);
  expect(reported).toEqual([
    ['allowed', 'InFlight', false],
    ['denied', 'InFlight', false],
    ['allowed', 'Here', false],
  ]);
  expect(published).toEqual(['allowed', 'denied', 'allowed']);
});
