import { describe, expect, test } from 'vitest';
import { Rejected } from '../../src/async/awaitable.ts';
import { coreOf } from '../../src/limiter/create-limiter.ts';
import { PartialDecision, type PreparedLimits, type RequestAsk } from '../../src/limiter/prepared-limits.ts';
import { accountLimits, atOnce, limiterOnFakeTime } from '../support/limiter-on-fake-time.ts';
import { thrown } from '../support/thrown.ts';

const numbers = { Orders: { count: 5, period: '1s' }, Reads: { count: 5, period: '1s' } };
const uses = ['Orders', 'Reads'].map((limit) => ({ limit, cost: 1, mode: 'check-and-spend' as const, share: 1 }));

/** What a request of one account asks of each limit. */
function asks(prepared: PreparedLimits<unknown>, cost = 1, share = 1): RequestAsk[] {
  return prepared.resolved().uses.map(({ limit, mode }) => ({ limit, id: '7', cost, mode, share }));
}

describe('prepared limits', () => {
  test('are looked up once, and again after replace', () => {
    const { limiter } = limiterOnFakeTime(numbers);
    const prepared = coreOf(limiter).prepare(uses);
    const before = prepared.resolved();
    expect(prepared.resolved()).toBe(before);
    limiter.replace({ limits: accountLimits({ ...numbers, Orders: { count: 9, period: '1s' } }) });
    expect(prepared.resolved().uses.map(({ limit }) => limit.rate.burst)).toEqual([9, 5]);
  });

  test('decide a request that began before replace by the old numbers and overrides', () => {
    const overrides = { Reads: { '7': { count: 3, period: '1s' } } };
    const { limiter } = limiterOnFakeTime(numbers, { overrides });
    const prepared = coreOf(limiter).prepare(uses);
    const resolved = prepared.resolved();
    const begun = asks(prepared);
    limiter.replace({
      limits: accountLimits({ Orders: { count: 9, period: '1s' }, Reads: { count: 9, period: '1s' } }),
    });
    const decision = atOnce(resolved.spend(begun, undefined));
    expect(decision).toMatchObject({ results: [{ burst: 5 }, { burst: 3, overridden: true }] });
  });

  test('decide the limits beside a failure, and give its cause', () => {
    const { limiter } = limiterOnFakeTime(numbers);
    const prepared = coreOf(limiter).prepare(uses);
    const [, reads] = asks(prepared);
    const failures = [new Rejected('first'), reads!, new Rejected('second')];
    const decided = atOnce(prepared.resolved().spend(failures, undefined)) as PartialDecision;
    expect(decided.causes).toEqual(['first', 'second']);
    expect(decided.decision).toMatchObject({ allowed: true, results: [{ limit: 'Reads', spent: 1 }] });
  });

  test('that are all failures or do not apply make no decision', () => {
    const { limiter } = limiterOnFakeTime(numbers);
    const resolved = coreOf(limiter).prepare(uses).resolved();
    expect(resolved.spend([null, new Rejected('first')], undefined)).toEqual(new PartialDecision(null, ['first']));
    expect(atOnce(resolved.spend([null, null], undefined))).toMatchObject({ allowed: true, limit: null });
  });

  test('a cost above the burst of an asynchronous override is a failure, and the other limits are spent', async () => {
    const { limiter } = limiterOnFakeTime(numbers, {
      overrides: async (limit) => (limit === 'Orders' ? { burst: 1, count: 1, period: '1s' } : undefined),
    });
    const prepared = coreOf(limiter).prepare(uses);
    const decided = (await prepared.resolved().spend(asks(prepared, 2), undefined)) as PartialDecision;
    expect(decided.causes).toMatchObject([{ code: 'ERR_COST_OVER_BURST', status: 400 }]);
    expect(decided.decision).toMatchObject({ results: [{ limit: 'Reads', spent: 2 }] });
  });

  test('a cost above the share, or a share that is not valid, is a failure, and the other limits are spent', () => {
    const { limiter } = limiterOnFakeTime(numbers);
    const prepared = coreOf(limiter).prepare(uses);
    for (const [share, code] of [
      [0.2, 'ERR_COST_OVER_BURST'],
      [2, 'ERR_OPTION'],
    ] as const) {
      const [orders] = asks(prepared, 2, share);
      const [, reads] = asks(prepared);
      const decided = atOnce(prepared.resolved().spend([orders!, reads!], undefined)) as PartialDecision;
      expect(decided.causes).toMatchObject([{ code }]);
      expect(decided.decision).toMatchObject({ results: [{ limit: 'Reads', spent: 1 }] });
    }
  });

  test('of a closed limiter are the error ERR_CLOSED', () => {
    const { limiter } = limiterOnFakeTime(numbers);
    const prepared = coreOf(limiter).prepare(uses);
    void limiter.close();
    expect(thrown(() => prepared.resolved()).code).toBe('ERR_CLOSED');
  });

  test('take a place for a request that may wait, and free it when the decision has no delay', async () => {
    const line = { burst: 1, count: 10, period: '1s', maxWait: '250ms' };
    const { limiter } = limiterOnFakeTime({ ...numbers, Reads: line });
    const prepared = coreOf(limiter).prepare(uses);
    const calls: string[] = [];
    const places = { take: () => calls.push('take') > 0, free: () => void calls.push('free') };
    const spend = (given: readonly RequestAsk[]) => prepared.resolved().spend(given, undefined, places);
    const [orders, reads] = asks(prepared);
    await spend([orders!]);
    expect(calls.splice(0)).toEqual([]);
    await spend([null, reads!]);
    expect(calls.splice(0)).toEqual(['take', 'free']);
    expect(await spend([orders!, reads!])).toMatchObject({ delayMs: 100 });
    expect(calls.splice(0)).toEqual(['take']);
    expect(await spend([new Rejected('bad'), reads!])).toMatchObject({ decision: { delayMs: 200 }, causes: ['bad'] });
    expect(calls.splice(0)).toEqual(['take', 'free']);
  });

  test('free the place of a request whose decision fails', async () => {
    const line = { burst: 1, count: 10, period: '1s', maxWait: '250ms' };
    const { limiter } = limiterOnFakeTime({ ...numbers, Reads: line });
    const prepared = coreOf(limiter).prepare(uses);
    const resolved = prepared.resolved();
    const begun = asks(prepared);
    const calls: string[] = [];
    const places = { take: () => calls.push('take') > 0, free: () => void calls.push('free') };
    atOnce(limiter.close());
    expect(thrown(() => resolved.spend(begun, undefined, places)).code).toBe('ERR_CLOSED');
    expect(calls).toEqual(['take', 'free']);
  });
});
