import { createLimiter, ipAddress, type Override, type OverrideTable, type SpendEntry } from '@sluice/core';
import { describe, expect, test } from 'vitest';
import { strictestDecision } from '../../../src/decision/strictness.ts';
import { rejects, ScriptedStore } from '../../failure/support/scripted-store.ts';
import { prepareCost } from '../../support/fixed-cost.ts';
import { accountLimits, limiterOnFakeTime } from '../../support/limiter-on-fake-time.ts';
import { rejected, thrown } from '../../support/thrown.ts';

const numbers = { Orders: { count: 2, period: '1m' }, Reads: { count: 2, period: '1s' } };
const overrides: OverrideTable = { Orders: { mallory: 'blocked' } };
const mallory = { limit: 'Orders', id: 'mallory' };
const ann = { limit: 'Orders', id: 'ann' };
const read = { limit: 'Reads', id: 'mallory' };

/** Gives how many tokens each of some buckets has. */
const remainingOf = (limiter: ReturnType<typeof limiterOnFakeTime>['limiter'], entries: readonly SpendEntry[]) =>
  limiter.checkSync(entries).results.map(({ remaining }) => remaining);

describe('a blocked id', () => {
  test('is denied always, without tokens and without a wait', () => {
    const { limiter } = limiterOnFakeTime(numbers, { overrides });
    const decision = limiter.spendSync([{ ...mallory, cost: 2 }]);
    expect(decision).toMatchObject({
      outcome: 'denied',
      allowed: false,
      blocked: true,
      limit: 'Orders',
      id: 'mallory',
      remaining: 0,
      retryAfterMs: Infinity,
      resetAfterMs: Infinity,
    });
    expect(decision.failure).toBeUndefined();
    expect(decision.results).toEqual([
      {
        ...mallory,
        kind: 'rate',
        cost: 2,
        spent: 0,
        mode: 'check-and-spend',
        allowed: false,
        blocked: true,
        borrowed: false,
        hidden: false,
        remaining: 0,
        retryAfterMs: Infinity,
        resetAfterMs: Infinity,
        burst: 0,
        count: 0,
        periodMs: 60_000,
        overridden: true,
      },
    ]);
  });

  test('is one id: the others of its limit are decided as ever', () => {
    const { limiter } = limiterOnFakeTime(numbers, { overrides });
    expect(limiter.spendSync([ann])).toMatchObject({
      allowed: true,
      blocked: false,
      results: [{ blocked: false }],
    });
  });

  test.each<Partial<SpendEntry>>([
    { mode: 'check-and-spend' },
    { mode: 'check-only' },
    { mode: 'spend-only' },
    { cost: 0 },
    { cost: 1_000_000 },
  ])('is denied whatever the mode and the cost: %o', async (entry) => {
    const { limiter } = limiterOnFakeTime(numbers, { overrides });
    for (const call of ['spend', 'check'] as const) {
      expect(await limiter[call]([{ ...mallory, ...entry }])).toMatchObject({ outcome: 'denied', blocked: true });
    }
  });

  test('costs the other limits of its batch nothing, spend-only ones included, and is all that the decision reports', () => {
    const { limiter } = limiterOnFakeTime(numbers, { overrides });
    const { results } = limiter.spendSync([read, mallory, { ...ann, mode: 'spend-only' }]);
    expect(results).toMatchObject([{ ...mallory, blocked: true }]);
    expect(remainingOf(limiter, [read, ann])).toEqual([2, 2]);
  });

  test('is stricter than every denial: of two decisions on one request it is the one that is reported', () => {
    const { limiter } = limiterOnFakeTime(numbers, { overrides });
    void limiter.charge([{ ...ann, cost: 2 }]);
    const [denied, blocked] = [limiter.spendSync([ann]), limiter.spendSync([mallory])];
    expect(denied).toMatchObject({ outcome: 'denied', blocked: false, retryAfterMs: 30_000 });
    expect(strictestDecision([denied, blocked])).toBe(blocked);
    expect(strictestDecision([blocked, denied])).toBe(blocked);
  });

  test('has no bucket: a charge or a refund leaves it out, and the refund of its decision gives nothing back', async () => {
    const { limiter } = limiterOnFakeTime(numbers, { overrides });
    expect(await limiter.charge([mallory, ann])).toMatchObject([{ ...ann, remaining: 1 }]);
    expect(await limiter.refund([mallory, ann])).toMatchObject([{ ...ann, remaining: 2 }]);
    expect(await limiter.refund(limiter.spendSync([mallory, ann]))).toEqual([]);
    expect(await limiter.reset([mallory])).toBeUndefined();
  });

  test('has its bucket back, as it was, when it is blocked no longer', () => {
    const { limiter } = limiterOnFakeTime(numbers);
    const limits = accountLimits(numbers);
    limiter.spendSync([mallory]);
    limiter.replace({ limits, overrides });
    limiter.spendSync([mallory]);
    limiter.replace({ limits });
    expect(remainingOf(limiter, [mallory])).toEqual([1]);
  });

  test('takes nothing from what a fixed cost may be', () => {
    const { limiter } = limiterOnFakeTime(numbers, { overrides });
    expect(() => prepareCost(limiter, 'Orders', 2)).not.toThrow();
  });

  test('does not hide wrong arguments', () => {
    const { limiter } = limiterOnFakeTime(numbers, { overrides });
    const code = (entries: readonly SpendEntry[]) => thrown(() => limiter.spendSync(entries)).code;
    expect(code([{ ...mallory, cost: -1 }])).toBe('ERR_COST');
    expect(code([mallory, mallory])).toBe('ERR_DUPLICATE_BUCKET');
    expect(code([mallory, { ...ann, cost: 3 }])).toBe('ERR_COST_OVER_BURST');
    void limiter.close();
    expect(code([mallory])).toBe('ERR_CLOSED');
  });

  test('has no effect under a disabled limit', async () => {
    const limits = { Orders: { ...numbers.Orders, disabled: true } };
    expect((await limiterOnFakeTime(limits, { overrides }).limiter.spend([mallory])).allowed).toBe(true);
  });
});

describe('an id is blocked', () => {
  test('by its network, but for the ids and smaller networks in it that have an override of their own', () => {
    const limiter = createLimiter({
      limits: { Requests: { key: ipAddress(), count: 1, period: '1s' } },
      overrides: {
        Requests: { '10.0.0.0/8': 'blocked', '10.9.0.0/16': { count: 5, period: '1s' }, '10.1.1.1': 'unlimited' },
      },
    });
    const allowed = ['10.1.1.2', '10.9.1.1', '10.1.1.1', '11.1.1.1'].map(
      (id) => limiter.spendSync([{ limit: 'Requests', id }]).allowed,
    );
    expect(allowed).toEqual([false, true, true, true]);
  });

  test.each<[string, (override: Override) => Override | Promise<Override>]>([
    ['at once', (override) => override],
    ['later', async (override) => override],
  ])('by a function, %s', async (_, answer) => {
    const { limiter } = limiterOnFakeTime(numbers, { overrides: () => answer('blocked') });
    expect(await limiter.spend([ann])).toMatchObject({ outcome: 'denied', blocked: true });
  });

  test('by a function that answers after the limiter was closed: that is the error of a closed limiter', async () => {
    let give!: (override: Override) => void;
    const { limiter } = limiterOnFakeTime(numbers, { overrides: () => new Promise((resolve) => (give = resolve)) });
    const decision = rejected(() => limiter.spend([ann]));
    give('blocked');
    void limiter.close();
    expect(await decision).toMatchObject({ code: 'ERR_CLOSED' });
  });
});

describe('the store is not called for a blocked id, so the id stays blocked during an outage', () => {
  const limiterOn = (store: ScriptedStore, onFailure: 'local' | 'closed' | 'open') =>
    createLimiter({
      limits: accountLimits(numbers),
      overrides,
      store,
      failure: { onFailure },
      log: false,
    });

  test.each(['local', 'closed', 'open'] as const)('while the store fails, under the policy %s', async (onFailure) => {
    const store = new ScriptedStore(rejects(new Error('no store')));
    const limiter = limiterOn(store, onFailure);
    const decision = await limiter.spend([read, mallory]);
    expect(decision).toMatchObject({ outcome: 'denied', blocked: true, retryAfterMs: Infinity });
    expect(decision.failure).toBeUndefined();
    expect(store.calls).toEqual([]);
  });
});
