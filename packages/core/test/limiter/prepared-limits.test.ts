import { accountId, createLimiter, type LimiterOptions } from '@sluice/core';
import { FakeTime } from '@sluice/core/testing';
import { describe, expect, test } from 'vitest';
import { Rejected } from '../../src/async/awaitable.ts';
import type { KeySource } from '../../src/keys/key.ts';
import { coreOf } from '../../src/limiter/create-limiter.ts';
import type { PartialDecision } from '../../src/limiter/prepared-limits.ts';
import { keySource } from '../support/key-source.ts';
import { atOnce } from '../support/limiter-on-fake-time.ts';
import { thrown } from '../support/thrown.ts';

/** The ids of a request by limit; what is an error is thrown by the key. */
type Ids = Readonly<Record<string, string | null | Error>>;
type Numbers = Readonly<Record<string, object>>;

const numbers = { Orders: { count: 5, period: '1s' }, Reads: { count: 5, period: '1s' } };
const BOTH: Ids = { Orders: '7', Reads: '7' };

function limitsOf(given: Numbers): LimiterOptions<Ids>['limits'] {
  const idOf = (name: string) => (ids: Ids) => {
    const id = ids[name]!;
    if (id instanceof Error) throw id;
    return id;
  };
  const limits = Object.entries(given).map(([name, each]) => [name, { key: accountId(idOf(name)), ...each }]);
  return Object.fromEntries(limits) as LimiterOptions<Ids>['limits'];
}

/** A limiter whose limits a middleware uses, each with a cost and a share. */
function preparedOf(given: Numbers, options: Omit<LimiterOptions<Ids>, 'limits'> = {}, uses: object = {}) {
  const limiter = createLimiter<Ids>({ limits: limitsOf(given), time: new FakeTime(), log: false, ...options });
  const all = Object.keys(given).map((limit) => ({
    limit,
    cost: 1,
    mode: 'check-and-spend' as const,
    share: 1,
    ...uses,
  }));
  return { limiter, prepared: coreOf(limiter).prepare(all) };
}

const sourceOf = (ids: Ids = BOTH): KeySource<never> => keySource(ids as never);

describe('prepared limits', () => {
  test('are looked up once, and again after replace', () => {
    const { limiter, prepared } = preparedOf(numbers);
    const before = prepared.resolved();
    expect(prepared.resolved()).toBe(before);
    limiter.replace({ limits: limitsOf({ ...numbers, Orders: { count: 9, period: '1s' } }) });
    expect(prepared.resolved().uses.map(({ limit }) => limit.rate.burst)).toEqual([9, 5]);
  });

  test('decide a request that began before replace by the old numbers and overrides', () => {
    const overrides = { Reads: { '7': { count: 3, period: '1s' } } };
    const { limiter, prepared } = preparedOf(numbers, { overrides });
    const resolved = prepared.resolved();
    limiter.replace({ limits: limitsOf({ Orders: { count: 9, period: '1s' }, Reads: { count: 9, period: '1s' } }) });
    const decision = atOnce(resolved.spend(sourceOf()));
    expect(decision).toMatchObject({ results: [{ burst: 5 }, { burst: 3, overridden: true }] });
  });

  test('decide the limits beside failures, and give their causes, first that of the request', () => {
    const { prepared } = preparedOf({ ...numbers, Writes: { count: 5, period: '1s' } });
    const [first, second] = [new Error('first'), new Error('second')];
    const ids = { Orders: first, Reads: '7', Writes: second };
    const before = new Rejected('before');
    const decided = atOnce(prepared.resolved().spend(sourceOf(ids), undefined, before)) as PartialDecision;
    expect(decided.causes).toEqual(['before', first, second]);
    expect(decided.decision).toMatchObject({ allowed: true, results: [{ limit: 'Reads', spent: 1 }] });
  });

  test('that are all failures or do not apply make no decision', () => {
    const { prepared } = preparedOf(numbers);
    const failure = new Error('first');
    const decided = prepared.resolved().spend(sourceOf({ Orders: null, Reads: failure }));
    expect(decided).toMatchObject({ decision: null, causes: [failure] });
    const nothing = prepared.resolved().spend(sourceOf({ Orders: null, Reads: null }));
    expect(atOnce(nothing)).toMatchObject({ allowed: true, limit: null });
  });

  test('a cost above the burst of an asynchronous override is a failure, and the other limits are spent', async () => {
    const overrides: LimiterOptions['overrides'] = async (limit) =>
      limit === 'Orders' ? { burst: 1, count: 1, period: '1s' } : undefined;
    const { prepared } = preparedOf(numbers, { overrides }, { cost: 2 });
    const decided = (await prepared.resolved().spend(sourceOf())) as PartialDecision;
    expect(decided.causes).toMatchObject([{ code: 'ERR_COST_OVER_BURST', status: 400 }]);
    expect(decided.decision).toMatchObject({ results: [{ limit: 'Reads', spent: 2 }] });
  });

  test.each([
    [0.2, 'ERR_COST_OVER_BURST'],
    [2, 'ERR_OPTION'],
  ])('a cost above the share, or a share that is not valid, is a failure: %d', (share, code) => {
    const { limiter, prepared } = preparedOf(numbers, {}, { cost: 2, share: () => share });
    const decided = atOnce(prepared.resolved().spend(sourceOf({ Orders: '7', Reads: null }))) as PartialDecision;
    expect(decided).toMatchObject({ decision: null, causes: [{ code }] });
    expect(limiter.checkSync([{ limit: 'Orders', id: '7' }])).toMatchObject({ remaining: 5 });
  });

  test('of a closed limiter are the error ERR_CLOSED', () => {
    const { limiter, prepared } = preparedOf(numbers);
    void limiter.close();
    expect(thrown(() => prepared.resolved().spend(sourceOf())).code).toBe('ERR_CLOSED');
  });

  describe('of which one may wait', () => {
    const line = { burst: 1, count: 10, period: '1s', maxWait: '250ms' };

    function recorded() {
      const calls: string[] = [];
      const places = { take: () => calls.push('take') > 0, free: () => void calls.push('free') };
      return { ...preparedOf({ ...numbers, Reads: line }), calls, places };
    }

    test('take a place for a request that may wait, and free it when the decision has no delay', async () => {
      const { prepared, calls, places } = recorded();
      const spend = (ids: Ids) => prepared.resolved().spend(sourceOf(ids), places);
      await spend({ Orders: '7', Reads: null });
      expect(calls.splice(0)).toEqual([]);
      await spend({ Orders: null, Reads: '7' });
      expect(calls.splice(0)).toEqual(['take', 'free']);
      expect(await spend(BOTH)).toMatchObject({ delayMs: 100 });
      expect(calls.splice(0)).toEqual(['take']);
      const bad = new Error('bad');
      expect(await spend({ Orders: bad, Reads: '7' })).toMatchObject({ decision: { delayMs: 200 }, causes: [bad] });
      expect(calls.splice(0)).toEqual(['take', 'free']);
    });

    test('free the place of a request whose decision fails', () => {
      const { limiter, prepared, calls, places } = recorded();
      const resolved = prepared.resolved();
      void limiter.close();
      expect(thrown(() => atOnce(resolved.spend(sourceOf(), places))).code).toBe('ERR_CLOSED');
      expect(calls).toEqual(['take', 'free']);
    });
  });
});
