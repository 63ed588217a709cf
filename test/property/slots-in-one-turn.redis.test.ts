import type { RedisStore } from '@sluice/redis';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { hold, inFlight, order, owed } from '../../packages/redis/test/support/orders.ts';
import { readyStore } from '../../packages/redis/test/support/ready-store.ts';
import { redisServer } from '../redis/servers/redis-server.ts';
import { atMost } from './runs.ts';
import { callsOf } from '@sluice/core/testing';

const server = await redisServer();

const number = fc.integer({ min: 1, max: 4 });
const id = fc.constantFrom('a', 'b');
/** No slot expires while the test runs. The expiries of one bucket differ. */
const expiryMs = fc.constantFrom(600_000, 3_600_000);

const slots = fc.record({
  id,
  expiryMs,
  count: fc.nat(3),
  fit: fc.integer({ min: 1, max: 6 }),
  mode: fc.constantFrom('check-and-spend', 'check-and-spend', 'check-only', 'spend-only'),
});
const batch = fc.record({
  slots: fc.uniqueArray(slots, { minLength: 1, maxLength: 2, selector: (each) => each.id }),
  tokens: fc.option(fc.nat(2), { nil: undefined }),
});
const target = fc.record({ id, expiryMs, holder: fc.nat(12), first: number, count: number });

const call = fc.oneof(
  { weight: 4, arbitrary: fc.record({ spend: fc.array(batch, { minLength: 1, maxLength: 3 }) }) },
  { weight: 1, arbitrary: fc.record({ renew: fc.array(target, { maxLength: 2 }) }) },
  { weight: 3, arbitrary: fc.record({ release: fc.array(target, { maxLength: 3 }) }) },
  { weight: 1, arbitrary: fc.record({ reset: id }) },
);
type Call = typeof call extends fc.Arbitrary<infer T> ? T : never;

/** The calls, not sent yet. Each returns the levels, in whole tokens or slots. */
function callsOn(store: RedisStore, calls: readonly Call[]): (() => Promise<unknown>)[] {
  let holders = 0;
  return calls.map((each) => {
    // The readings of these say nothing.
    if ('reset' in each) {
      return async () => void (await callsOf(store).reset([{ limit: 'InFlight', id: each.reset, slots: true }]));
    }
    if ('renew' in each) {
      return async () =>
        void (await callsOf(store).renew(each.renew.map((one) => hold(one.id, `h${one.holder}`, one))));
    }
    if ('release' in each) {
      return async () =>
        void (await callsOf(store).release(each.release.map((one) => hold(one.id, `h${one.holder}`, one))));
    }
    const batches = each.spend.map((one) => [
      ...one.slots.map((part) => inFlight(part.id, `h${holders++}`, part)),
      ...(one.tokens === undefined ? [] : [order('tokens', one.tokens)]),
    ]);
    return async () => (await callsOf(store).spendFirst(batches)).map(levelsOf);
  });
}

function levelsOf({ levelsTicks }: { readonly levelsTicks: readonly number[] }): number[] {
  // A level of slots is small.
  return levelsTicks.map((level) => (level < 1000 ? level : owed({ nowTicks: 0, levelsTicks: [level] })[0]!));
}

const look = [inFlight('a', 'look'), inFlight('b', 'look'), order('tokens', 0)];

test('calls with slots that travel together do what they do one after the other', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(call, { minLength: 1, maxLength: 12 }), async (calls) => {
      // A denial from memory reports no level of slots.
      const options = { url: server.url, rememberDenialsMs: 0 };
      const [together, apart] = await Promise.all([0, 1].map(() => readyStore(options)));
      const answers = await Promise.all(callsOn(together!, calls).map((send) => send()));
      const expected: unknown[] = [];
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      for (const send of callsOn(apart!, calls)) expected.push(await send());
      expect(answers).toEqual(expected);
      expect(levelsOf(await callsOf(together!).check(look))).toEqual(levelsOf(await callsOf(apart!).check(look)));
      await Promise.all([together!.close(), apart!.close()]);
    }),
    { numRuns: atMost(300) },
  );
});
