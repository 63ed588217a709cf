import type { Decision, SpendEntry } from '@sluice/core';
import { expect, test } from 'vitest';
import { collectGarbage } from '../../../../../../test/collect-garbage.ts';
import type { Decided } from '../../../../src/decision/decided.ts';
import { coreOf } from '../../../../src/limiter/create-limiter.ts';
import { keySource } from '../../../support/key-source.ts';
import { atOnce } from '../../../support/limiter-on-fake-time.ts';
import { holding as started, slot } from './support/holding.ts';

/** Decisions that nobody keeps but the test. */
function holding() {
  const made = started(LIMITS);
  return { ...made, hold: (...entries: SpendEntry[]): Decision => made.limiter.spendSync(entries, { hold: true }) };
}

const LIMITS = {
  InFlight: { concurrency: 5, expiry: '6s' },
  Here: { concurrency: 5, scope: 'process' },
  Other: { concurrency: 8 },
  Rate: { count: 9, period: '1h' },
};

test('the slots of a decision that the program drops are free after their expiry, with one warning for each limit', async () => {
  const { hold, limiter, events, inStore, time } = holding();
  const kept = hold(slot());
  (() => {
    for (let i = 0; i < 3; i++) hold(slot(), slot({ limit: 'Here' }));
  })();
  expect(inStore()).toBe(4);
  const here = () => (limiter.checkSync([slot({ limit: 'Here', cost: 0 })]) as { remaining: number }).remaining;
  await collectGarbage(() => here() === 5);
  // Slots of this process alone need no expiry.
  expect(here()).toBe(5);
  time.advance(6000);
  expect(inStore()).toBe(1);
  const warnings = events.map((event) => `${event.type} ${'once' in event} ${event.message.slice(0, 26)}`);
  expect(warnings.toSorted()).toEqual([
    'warning true Slots of limit "Here" were',
    'warning true Slots of limit "InFlight" ',
  ]);
  (() => void hold(slot()))();
  await collectGarbage(() => false, 3);
  expect(events).toHaveLength(2);
  expect(kept.allowed).toBe(true);
});

test('a middleware can leave slots to their expiry: nobody renews or releases them, and one warning says so', async () => {
  const { hold, limiter, events, inStore, time } = holding();
  const core = coreOf(limiter);
  const decisions = ['InFlight', 'Other', 'Rate'].map((limit) => {
    return atOnce(
      core
        .prepare([{ limit, cost: 1, mode: 'check-and-spend', share: 1 }])
        .resolved()
        .spend(keySource('a')),
    );
  }) as Decided[];
  expect(decisions.map(({ holding: held }) => held !== undefined)).toEqual([true, true, false]);
  for (const decision of decisions)
    decision.holding?.releaseAfterResponse(decision, { onEnd: (done) => done('unknown') });
  for (const decision of decisions) await decision.release();
  expect([inStore(), inStore('Other')]).toEqual([1, 1]);
  time.advance(9999);
  expect([inStore(), inStore('Other')]).toEqual([0, 1]);
  time.advance(1);
  expect(inStore('Other')).toBe(0);
  expect(hold(slot()).allowed).toBe(true);
  expect(events).toMatchObject([{ message: expect.stringMatching(/^The end of a response could not be observed/) }]);
});

test('a decision that was released, or has nothing to release, may be dropped', async () => {
  const { hold, events } = holding();
  await (async () => {
    await hold(slot()).release();
    hold(slot({ mode: 'check-only' }));
    hold(slot({ cost: 0 }));
    hold(slot({ cost: 5, limit: 'Here' }), slot({ cost: 5 }));
    hold(slot());
  })();
  await collectGarbage(() => events.length > 1);
  // One of those has slots.
  expect(events.map(({ message }) => message.slice(0, 22)).toSorted()).toEqual([
    'Slots of limit "Here" ',
    'Slots of limit "InFlig',
  ]);
});

test('after `close`, which has released them, nobody is warned', async () => {
  const { hold, limiter, events } = holding();
  (() => void hold(slot()))();
  await limiter.close();
  await collectGarbage(() => events.length > 0, 3);
  expect(events).toEqual([]);
});
