import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import {
  createLimiter,
  memoryStore,
  type DecisionMessage,
  type Override,
  type SpendEntry,
  type Store,
} from '@sluice/core';
import type { StoreOperation, StoreReading } from '@sluice/core/store';
import { FakeTime } from '@sluice/core/testing';
import { describe, expect, test } from 'vitest';
import type { FirstOf } from '../../src/limiter/entry.ts';
import { accountLimits, limiterOnFakeTime } from '../support/limiter-on-fake-time.ts';
import { rejected, thrown } from '../support/thrown.ts';
import { MapStore } from '../testing/map-store.ts';
import { anotherOn, daily, limiterOn, quick, setOf } from './raised.ts';

const numbers = {
  Own: { count: 2, period: '1m' },
  Pool: { count: 3, period: '1m' },
  Ceiling: { count: 10, period: '1m' },
};
const own = (cost = 1) => ({ limit: 'Own', id: '7', cost });
const pool = (cost = 1) => ({ limit: 'Pool', id: 'all', cost });
const ceiling = (cost = 1) => ({ limit: 'Ceiling', id: '7', cost });
const ownElsePool = { firstOf: [[own()], [pool(), ceiling()]] };
const limits = accountLimits(numbers);

function limiterWith(overrides: Record<string, Record<string, Override>>) {
  return limiterOnFakeTime(numbers, { overrides }).limiter;
}

describe('spend({ firstOf })', () => {
  test('decides by the first alternative that passes, and takes only its tokens', () => {
    const { limiter } = limiterOnFakeTime(numbers);
    const decisions = Array.from({ length: 6 }, () => limiter.spendSync(ownElsePool));
    expect(decisions.map(({ outcome, limit, remaining }) => [outcome, limit, remaining])).toEqual([
      ['allowed', 'Own', 1],
      ['allowed', 'Own', 0],
      ['allowed', 'Pool', 2],
      ['allowed', 'Pool', 1],
      ['allowed', 'Pool', 0],
      ['denied', 'Pool', 0],
    ]);
    expect(limiter.checkSync([ceiling()])).toMatchObject({ remaining: 7 });
  });

  test('is denied for the shortest wait of all alternatives', () => {
    const { limiter, time } = limiterOnFakeTime(numbers);
    void limiter.charge([own(2), pool(3)]);
    expect(limiter.spendSync(ownElsePool)).toMatchObject({
      outcome: 'denied',
      limit: 'Pool',
      retryAfterMs: 20_000,
    });
    time.advance(15_000);
    void limiter.charge([pool(3)]);
    expect(limiter.spendSync(ownElsePool)).toMatchObject({ outcome: 'denied', limit: 'Own', retryAfterMs: 15_000 });
    time.advance(15_000);
    expect(limiter.spendSync(ownElsePool)).toMatchObject({ outcome: 'allowed', limit: 'Own' });
  });

  test('of equal waits is denied for the first', () => {
    const { limiter } = limiterOnFakeTime({ One: { count: 1, period: '1m' }, Two: { count: 1, period: '1m' } });
    const either = { firstOf: [[{ limit: 'Two', id: '7' }], [{ limit: 'One', id: '7' }]] };
    for (const limit of ['Two', 'One']) expect(limiter.spendSync(either)).toMatchObject({ allowed: true, limit });
    expect(limiter.spendSync(either)).toMatchObject({ allowed: false, limit: 'Two' });
  });

  test('gives back by refund what the alternative took that passed, once', async () => {
    const { limiter } = limiterOnFakeTime(numbers);
    void limiter.charge([own(2)]);
    const decision = limiter.spendSync({ firstOf: [[own()], [pool(2), ceiling(4)]] });
    expect(await limiter.refund(decision)).toMatchObject([
      { limit: 'Pool', remaining: 3 },
      { limit: 'Ceiling', remaining: 10 },
    ]);
    expect(await limiter.refund(decision)).toEqual([]);
    expect(limiter.checkSync([own(0)])).toMatchObject({ remaining: 0 });
  });

  test('gives nothing back when all alternatives were denied', async () => {
    const { limiter } = limiterOnFakeTime(numbers);
    void limiter.charge([own(2), pool(3)]);
    expect(await limiter.refund(limiter.spendSync(ownElsePool))).toEqual([]);
  });

  test('keeps the modes, also of a bucket in several alternatives', () => {
    const { limiter } = limiterOnFakeTime(numbers);
    const firstOf = [[own(), { ...pool(2), mode: 'charge' as const }], [pool()]];
    expect(limiter.spendSync({ firstOf }).results).toMatchObject([{ spent: 1 }, { mode: 'charge', spent: 2 }]);
    expect(limiter.spendSync({ firstOf }).results).toMatchObject([{ spent: 1 }, { mode: 'charge', spent: 1 }]);
    expect(limiter.spendSync({ firstOf })).toMatchObject({ outcome: 'denied', limit: 'Pool' });
    expect(limiter.spendSync({ firstOf: [[{ ...own(), mode: 'check-only' }], [ceiling()]] })).toMatchObject({
      limit: 'Ceiling',
    });
  });

  test('of a single alternative is the same as without', () => {
    const { limiter } = limiterOnFakeTime(numbers);
    expect(limiter.spendSync({ firstOf: [[own(2), pool()]] })).toMatchObject({ allowed: true, limit: 'Own' });
    expect(limiter.spendSync({ firstOf: [[own()]] })).toMatchObject({ allowed: false, retryAfterMs: 30_000 });
  });

  test('is given as a promise when an override is', async () => {
    const { limiter } = limiterOnFakeTime(numbers, { overrides: async () => undefined });
    await limiter.charge([own(2)]);
    expect(await limiter.spend(ownElsePool)).toMatchObject({ allowed: true, limit: 'Pool' });
    const twice = await rejected(() => limiter.spend({ firstOf: [[own()], [pool(), pool()]] }));
    expect(twice.code).toBe('ERR_DUPLICATE_BUCKET');
  });

  test('is told to onDecision and the channel once', async () => {
    const told: unknown[] = [];
    const published: DecisionMessage[] = [];
    const listener = (message: unknown): unknown => published.push(message as DecisionMessage);
    const { limiter } = limiterOnFakeTime(numbers, { onDecision: (decision) => told.push(decision) });
    subscribe('sluice:decision', listener);
    const decision = limiter.spendSync(ownElsePool);
    unsubscribe('sluice:decision', listener);
    limiter.checkSync(ownElsePool);
    const next = limiter.spendSync(ownElsePool);
    expect(told).toEqual([decision, next]);
    expect(published).toEqual([{ limiter, decision, shadow: false }]);
  });
});

test.each<[what: string, asked: FirstOf | readonly SpendEntry[]]>([
  ['alternatives', ownElsePool],
  ['entries', [own()]],
])('the time of a decision on %s is not measured unless somebody has subscribed before it', async (_what, asked) => {
  const published: DecisionMessage[] = [];
  const listener = (message: unknown): unknown => published.push(message as DecisionMessage);
  const limiter = createLimiter({ limits, store: new MapStore(new FakeTime()), log: false, onDecision: () => {} });
  const decision = limiter.spend(asked);
  subscribe('sluice:decision', listener);
  await decision;
  unsubscribe('sluice:decision', listener);
  expect(published).toEqual([{ limiter, decision: await decision, shadow: false, durationMs: undefined }]);
});

describe('check({ firstOf })', () => {
  test('decides as spend would, and takes nothing', async () => {
    const time = new FakeTime();
    for (const store of [memoryStore({ time }), new MapStore(time)]) {
      const limiter = createLimiter({ limits, store, log: false, time });
      for (const expected of ['Own', 'Own', 'Pool', 'Pool', 'Pool']) {
        const checked = await limiter.check(ownElsePool);
        expect(checked).toMatchObject({ allowed: true, limit: expected });
        expect(checked.results.every(({ spent }) => spent === 0)).toBe(true);
        expect(await limiter.spend(ownElsePool)).toMatchObject({ allowed: true, limit: expected });
      }
      expect(await limiter.check(ownElsePool)).toMatchObject({ allowed: false, limit: 'Pool', retryAfterMs: 20_000 });
    }
  });

  test('looks at all alternatives in one call, also where each bucket has a clock of its own', async () => {
    let checks = 0;
    class TwoClocks extends MapStore {
      override async run(operation: StoreOperation): Promise<StoreReading> {
        if (operation.kind === 'check') checks++;
        const reading = await super.run(operation);
        const bucketNowTicks = reading.levelsTicks.map((_, i) => reading.nowTicks + 16 * i);
        return { ...reading, bucketNowTicks, bucketWallMs: bucketNowTicks };
      }
    }
    const limiter = createLimiter({ limits, store: new TwoClocks(new FakeTime()), log: false });
    await limiter.charge([own(2)]);
    const decision = await limiter.check({
      firstOf: [
        [own(), ceiling()],
        [ceiling(4), pool()],
        [pool(), own()],
      ],
    });
    expect(decision.results).toMatchObject([
      { limit: 'Ceiling', cost: 4, remaining: 10 },
      { limit: 'Pool', cost: 1, remaining: 3 },
    ]);
    expect(checks).toBe(1);
  });
});

describe('overrides', () => {
  test('an alternative of unlimited ids passes', () => {
    const limiter = limiterWith({ Pool: { all: 'unlimited' } });
    const ownElseUnlimited = { firstOf: [[own(2)], [pool()]] };
    expect(limiter.spendSync(ownElseUnlimited)).toMatchObject({ allowed: true, limit: 'Own' });
    expect(limiter.spendSync(ownElseUnlimited)).toMatchObject({ allowed: true, limit: null, results: [] });
    expect(limiter.spendSync({ firstOf: [[pool()], [own()]] })).toMatchObject({ allowed: true, limit: null });
  });

  test('unlimited ids are left out of an alternative', () => {
    const limiter = limiterWith({ Pool: { all: 'unlimited' } });
    void limiter.charge([own(2)]);
    expect(limiter.spendSync(ownElsePool).results).toMatchObject([{ limit: 'Ceiling' }]);
  });

  test('an alternative with a blocked id is denied, and the others count', () => {
    const limiter = limiterWith({ Ceiling: { '7': 'blocked' } });
    const blockedElse = { firstOf: [[pool(), ceiling()], [own()], [pool()]] };
    const outcomes = Array.from({ length: 5 }, () => limiter.spendSync(blockedElse).limit);
    expect(outcomes).toEqual(['Own', 'Own', 'Pool', 'Pool', 'Pool']);
    expect(limiter.spendSync(blockedElse)).toMatchObject({ outcome: 'denied', blocked: false, limit: 'Pool' });
    expect(limiter.spendSync({ firstOf: [[ceiling()], [own()]] })).toMatchObject({ blocked: false, limit: 'Own' });
  });

  test('alternatives that all have a blocked id are denied forever', () => {
    const limiter = limiterWith({ Ceiling: { '7': 'blocked' } });
    expect(
      limiter.spendSync({
        firstOf: [
          [own(), ceiling()],
          [pool(), ceiling()],
        ],
      }),
    ).toMatchObject({
      outcome: 'denied',
      blocked: true,
      retryAfterMs: Infinity,
      results: [{ limit: 'Ceiling' }],
    });
    expect(limiter.checkSync([own(), pool()])).toMatchObject({ results: [{ remaining: 2 }, { remaining: 3 }] });
  });
});

describe('after a limit was raised', () => {
  const either = { firstOf: [['7'], ['8']].map((ids) => ids.map((id) => ({ limit: 'Orders', id }))) };
  const stores = [
    ['at once', (time: FakeTime): Store => memoryStore({ time })],
    ['by promises', (time: FakeTime): Store => new MapStore(time)],
  ] as const;

  test.each(stores)('old debts of all alternatives are cut, on a store that answers %s', async (_how, storeOn) => {
    const time = new FakeTime();
    const limiter = limiterOn(storeOn(time), daily);
    await limiter.charge([
      { limit: 'Orders', id: '7', cost: 5 },
      { limit: 'Orders', id: '8', cost: 4 },
    ]);
    limiter.replace(setOf(quick));
    // The first is used up by the new numbers too; of the second one token was left, and four come back in 0.8 s.
    expect(await limiter.spend(either)).toMatchObject({ outcome: 'denied', retryAfterMs: 200, id: '7' });
    time.advance(200);
    expect(await limiter.spend(either)).toMatchObject({ allowed: true, id: '7' });
    expect(await limiter.spend(either)).toMatchObject({ allowed: true, id: '8' });
  });

  test.each(stores)('an old debt of the first is cut although a later one passes, %s', async (_how, storeOn) => {
    const time = new FakeTime();
    const store = storeOn(time);
    const limiter = limiterOn(store, daily);
    await limiter.charge([{ limit: 'Orders', id: '7', cost: 5 }]);
    limiter.replace(setOf(quick));
    expect(await limiter.spend(either)).toMatchObject({ allowed: true, id: '8', remaining: 4 });
    time.advance(200);
    expect(await limiter.spend(either)).toMatchObject({ allowed: true, id: '7' });
    expect(await anotherOn(store, quick).check([{ limit: 'Orders', id: '8' }])).toMatchObject({ remaining: 5 });
  });
});

describe('wrong arguments', () => {
  const { limiter } = limiterOnFakeTime(numbers);
  const many = Array.from({ length: 9 }, (_, id) => ({ limit: 'Own', id: `${id}` }));

  test.each<[input: unknown, code: string, message: string | RegExp]>([
    [{}, 'ERR_OPTION', '`entries` must be an array, but was {}.'],
    [undefined, 'ERR_OPTION', '`entries` must be an array, but was undefined.'],
    ['firstOf', 'ERR_OPTION', '`entries` must be an array'],
    [{ firstOf: [[own()]], oneOf: [] }, 'ERR_UNKNOWN_OPTION', 'oneOf'],
    [{ firstOf: undefined }, 'ERR_OPTION', '`firstOf` must be an array of 1 to 4 alternatives, but was undefined.'],
    [{ firstOf: [] }, 'ERR_OPTION', '`firstOf` must be an array of 1 to 4 alternatives, but was [].'],
    [{ firstOf: [[], [], [], [], []] }, 'ERR_OPTION', '`firstOf` must be an array of 1 to 4 alternatives'],
    [{ firstOf: [[own()], []] }, 'ERR_OPTION', '`firstOf[1]` must be an array of 1 to 8 entries, but was [].'],
    [{ firstOf: [own()] }, 'ERR_OPTION', '`firstOf[0]` must be an array of 1 to 8 entries, but was {'],
    [{ firstOf: [[own()], many] }, 'ERR_OPTION', '`firstOf[1]` must be an array of 1 to 8 entries'],
    // oxlint-disable-next-line no-sparse-arrays -- a hole is an argument that somebody may pass
    [{ firstOf: [[own()], [, own()]] }, 'ERR_OPTION', 'entries[…]'],
    [{ firstOf: [[own()], [{ ...pool(), points: 1 }]] }, 'ERR_UNKNOWN_OPTION', '`points` is `cost` here.'],
    [{ firstOf: [[own()], [{ limit: 'Typo', id: '7' }]] }, 'ERR_UNKNOWN_LIMIT', 'Typo'],
    [{ firstOf: [[own()], [pool(-1)]] }, 'ERR_COST', 'cost'],
    [{ firstOf: [[own()], [pool(4)]] }, 'ERR_COST_OVER_BURST', 'at most the burst, 3'],
    [{ firstOf: [[own()], [pool(), pool()]] }, 'ERR_DUPLICATE_BUCKET', 'twice'],
    [{ firstOf: [[own()], [{ limit: 'Pool', id: 7 }]] }, 'ERR_ID', "Write id: '7'."],
  ])('%j are an error of spend and of check', async (input, code, message) => {
    for (const call of ['spend', 'check'] as const) {
      const error = await rejected(() => limiter[call](input as FirstOf));
      expect(error.code).toBe(code);
      expect(error.message).toMatch(message);
    }
    expect(limiter.checkSync([own(), pool()])).toMatchObject({ results: [{ remaining: 2 }, { remaining: 3 }] });
  });

  test('are alternatives after close', () => {
    const closed = limiterOnFakeTime(numbers).limiter;
    void closed.close();
    expect(thrown(() => closed.spendSync(ownElsePool)).code).toBe('ERR_CLOSED');
    expect(thrown(() => closed.checkSync(ownElsePool)).code).toBe('ERR_CLOSED');
  });
});
