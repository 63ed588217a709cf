import { accountId, createLimiter, everyone, memoryStore, OverrideList, type OverrideTable } from '@sluice/core';
import { borrow as borrowLimit } from '@sluice/core/borrow';
import { concurrency } from '@sluice/core/concurrency';
import { load, loadFrom } from '@sluice/core/load';
import { quota } from '@sluice/core/quota';
import { describe, expect, test } from 'vitest';
import { thrown } from '../../support/thrown.ts';
import { limitOf } from '../../support/limit-of.ts';

const ceiling = { count: 400, period: '1s' };
const borrow = { from: 'Pool', ceiling };
const perUser = { key: accountId(), count: 100, period: '1s' };
const pool = { key: everyone(), count: 1000, period: '1s' };

const make = (limits: Readonly<Record<string, object>>, overrides: OverrideTable = {}) =>
  createLimiter({
    limits: Object.fromEntries(Object.entries(limits).map(([name, one]) => [name, limitOf(one)])),
    overrides,
  });
const error = (changes: object, overrides: OverrideTable = {}) =>
  thrown(() => make({ PerUser: { ...perUser, borrow: { ...borrow, ...changes } }, Pool: pool }, overrides));

describe('a limit that borrows', () => {
  test('may be defined with fair, weight and tenants, before or after its pool', () => {
    const all = { ...borrow, fair: false, weight: (id: string) => id.length, tenants: 10 };
    expect(() => make({ PerUser: { ...perUser, borrow: all }, Pool: pool })).not.toThrow();
    expect(() =>
      make({ Pool: pool, PerUser: { ...perUser, borrow: { ...borrow, fair: true, weight: 0.5 } } }),
    ).not.toThrow();
  });

  test.each([
    [{ from: undefined }, 'ERR_OPTION', '`limits.PerUser.borrow.from` must be the name of a limit, but was undefined.'],
    [{ form: 'Pool' }, 'ERR_UNKNOWN_OPTION', '`limits.PerUser.borrow` has no option `form`'],
    [{ fair: 1 }, 'ERR_OPTION', '`limits.PerUser.borrow.fair` must be true or false, but was 1.'],
    [{ weight: 0 }, 'ERR_OPTION', '`limits.PerUser.borrow.weight` must be a number above 0, or a function'],
    [{ weight: Infinity }, 'ERR_OPTION', '`limits.PerUser.borrow.weight` must be a number above 0'],
    [{ tenants: 0 }, 'ERR_OPTION', '`limits.PerUser.borrow.tenants` must be a whole number from 1 to'],
    [{ ceiling: undefined }, 'ERR_OPTION', '`limits.PerUser.borrow.ceiling` must be an object'],
    [{ ceiling: { count: 400 } }, 'ERR_DURATION', '`limits.PerUser.borrow.ceiling.period` must be'],
    [{ ceiling: { ...ceiling, per: 'day' } }, 'ERR_UNKNOWN_OPTION', '`limits.PerUser.borrow.ceiling` has no option'],
  ])('is rejected with wrong options %o', (changes, code, message) => {
    const { code: actual, message: text } = error(changes);
    expect([actual, text.slice(0, message.length)]).toEqual([code, message]);
  });

  test.each([[{ count: 99, period: '1s', burst: 100 }], [{ count: 400, period: '1s', burst: 99 }]])(
    'must have a ceiling that is not below its own rate and burst: %o',
    (low) => {
      const { code, message } = error({ ceiling: low });
      expect(code).toBe('ERR_LIMIT');
      expect(message).toContain(
        '`limits.PerUser.borrow.ceiling` must be at least the assured burst, 100, and the assured rate, 100 per 1 s, but was',
      );
      expect(message).toContain('Raise it, or lower the numbers of the limit.');
    },
  );

  test('may have a ceiling that is equal to its own numbers', () => {
    expect(() =>
      make({ PerUser: { ...perUser, borrow: { ...borrow, ceiling: { count: 100, period: '1s' } } }, Pool: pool }),
    ).not.toThrow();
  });

  test('must name a pool that exists, with a guess and an example', () => {
    const { code, message } = error({ from: 'pool' });
    expect(code).toBe('ERR_LIMIT');
    expect(message).toBe(
      "`limits.PerUser.borrow.from` must be the name of another limit, but was 'pool'. Did you mean `Pool`? " +
        "Add it, for example pool: { key: everyone(), count: 1000, period: '1s' }. Limits: Pool.",
    );
    expect(error({ from: 'PerUser' }).message).toContain('must be the name of another limit');
  });

  test.each([
    [{ ...pool, key: accountId() }, 'must be a limit with the key everyone()'],
    [
      { ...pool, borrow: { from: 'Other', ceiling: { count: 2000, period: '1s' } } },
      'must be a limit that does not borrow itself',
    ],
    [quota({ key: everyone(), count: 1000, per: 'day' }), 'must be a rate, not a quota'],
    [concurrency({ key: everyone(), concurrency: 1000 }), 'must be a rate, not a concurrency limit'],
    [load({ key: everyone(), load: loadFrom(() => 0) }), 'must be a rate, not a load limit'],
    [{ ...pool, overshoot: 0.1 }, 'must be a limit without `overshoot`'],
    [{ ...pool, maxWait: '1s' }, 'must be a limit without `maxWait`'],
    [{ ...pool, disabled: true }, 'must be a limit that is not disabled'],
  ])('must name a limit that can be a pool, not %o', (wrong, demand) => {
    const { code, message } = thrown(() =>
      make({ PerUser: { ...perUser, borrow }, Pool: wrong, Other: { ...pool, count: 5000 } }),
    );
    expect([code, message]).toEqual(['ERR_LIMIT', expect.stringContaining(demand)]);
  });

  test('has no maxWait, and its overrides have none', () => {
    const both = thrown(() => make({ PerUser: { ...perUser, maxWait: '1s', borrow }, Pool: pool }));
    expect([both.code, both.message]).toEqual([
      'ERR_LIMIT',
      '`limits.PerUser.maxWait` must be left out beside `borrow`: whether a request has to wait would depend on the pool. ' +
        'Put `maxWait` on a second limit with the same key.',
    ]);
    const overrides = { PerUser: { a: { count: 100, period: '1s', maxWait: '1s' } } } as const;
    expect(error({}, overrides).message).toMatch(
      /^`overrides.PerUser\['a'\]` has no option `maxWait` .* whether a request has to wait would depend on the pool/,
    );
  });

  test('must have a name of at most 56 characters, and no other limit may have the name of its ceilings', () => {
    const taken = thrown(() => make({ PerUser: { ...perUser, borrow }, Pool: pool, 'peruser.Ceiling': pool }));
    expect([taken.code, taken.message]).toEqual([
      'ERR_LIMIT',
      expect.stringContaining('ceilings under the name `PerUser.ceiling`, but there is a limit `peruser.Ceiling` too'),
    ]);
    const long = 'x'.repeat(57);
    const { code, message } = thrown(() => make({ [long]: { ...perUser, borrow }, Pool: pool }));
    expect([code, message]).toEqual([
      'ERR_LIMIT',
      `\`limits.${long}.borrow\` needs a limit with a name of at most 56 characters, but this one has 57: ` +
        'its ceilings are stored under the name and `.ceiling`. Choose a shorter name.',
    ]);
    expect(() => make({ [long.slice(1)]: { ...perUser, borrow }, Pool: pool })).not.toThrow();
  });

  test('keeps other limiters on the same store from using the name of its ceilings', () => {
    const store = memoryStore();
    createLimiter({ limits: { PerUser: borrowLimit({ ...perUser, borrow }), Pool: pool }, store });
    const other = () => createLimiter({ limits: { 'PerUser.ceiling': perUser }, store });
    expect(thrown(other)).toMatchObject({
      code: 'ERR_LIMIT_IN_USE',
      message: expect.stringContaining('"PerUser.ceiling"'),
    });
  });
});

describe('the sum of the assured rates', () => {
  test('may be as high as the rate of the pool, and not higher: tenants times the assured rate', () => {
    expect(() => make({ PerUser: { ...perUser, borrow: { ...borrow, tenants: 10 } }, Pool: pool })).not.toThrow();
    const { code, message } = error({ tenants: 11 });
    expect(code).toBe('ERR_LIMIT');
    expect(message).toBe(
      '`limits.Pool.count` must be at least the sum of the rates assured to the clients that borrow from it, 1100 per 1 s ' +
        '(tenants × the assured rate, or the rate of one id without tenants, and the overrides), but was 1000. Raise the rate of the pool, or lower the assured rates or `tenants`. ' +
        'Otherwise clients could use up the assured tokens of others.',
    );
  });

  test('includes listed overrides, and those of all limits that borrow from it', () => {
    const big = { count: 300, period: '1s' };
    const overrides = { PerUser: { a: big, b: big, c: 'unlimited', d: 'blocked' } } as const;
    expect(() =>
      make({ PerUser: { ...perUser, borrow: { ...borrow, tenants: 4 } }, Pool: pool }, overrides),
    ).not.toThrow();
    expect(error({ tenants: 5 }, overrides).message).toContain('1100 per 1 s');
    const perOrg = { ...perUser, borrow: { ...borrow, tenants: 4 } };
    const two = () =>
      make({ PerUser: { ...perUser, borrow: { ...borrow, tenants: 1 } }, PerOrg: perOrg, Pool: pool }, overrides);
    expect(thrown(two).message).toContain('1100 per 1 s');
  });

  test('is at least the rate of one id of each limit, without tenants', () => {
    const small = (count: number) => ({ PerUser: { ...perUser, borrow }, Pool: { ...pool, count } });
    expect(() => make(small(100))).not.toThrow();
    expect(thrown(() => make(small(99)))).toMatchObject({
      code: 'ERR_LIMIT',
      message: expect.stringContaining(
        '`limits.Pool.count` must be at least the sum of the rates assured to the clients that borrow from it, 100 per',
      ),
    });
    const two = (count: number) => ({ ...small(count), PerOrg: { ...perUser, borrow } });
    expect(() => make(two(200))).not.toThrow();
    expect(thrown(() => make(two(199))).message).toContain('200 per 1 s');
    const half = { count: 50, period: '1s' };
    const overrides = { PerUser: { a: half, b: half } };
    expect(() => make(small(100), overrides)).not.toThrow();
    expect(thrown(() => make(small(99), overrides)).message).toContain('100 per 1 s');
  });

  test('is compared without rounding errors', () => {
    const sevenths = { ...perUser, count: 7, borrow: { from: 'Pool', ceiling, tenants: 3 } };
    expect(() => make({ PerUser: sevenths, Pool: { ...pool, count: 21 } })).not.toThrow();
  });

  test('is validated again when limits are replaced, and the old limits stay in effect', () => {
    const limiter = make({ PerUser: { ...perUser, borrow }, Pool: pool });
    const next = { PerUser: { ...perUser, borrow: { ...borrow, tenants: 11 } }, Pool: pool };
    expect(thrown(() => limiter.replace({ limits: next })).code).toBe('ERR_LIMIT');
    expect(() => limiter.spend([{ limit: 'PerUser', id: '7' }])).not.toThrow();
  });
});

describe('an override of a limit that borrows', () => {
  const big = { count: 500, period: '1s' };

  test('above the ceiling needs a ceiling of its own', () => {
    const { code, message } = error({}, { PerUser: { a: big } });
    expect(code).toBe('ERR_OVERRIDE');
    expect(message).toBe(
      '`overrides.PerUser` has an override above the ceiling of the limit (burst 400, 400 per 1 s). ' +
        'Give the override a ceiling of its own, borrow: { ceiling: { count, period } }, or raise that of the limit.',
    );
    const own = { ...big, borrow: { ceiling: { count: 600, period: '1s' }, weight: 3 } };
    expect(() => make({ PerUser: { ...perUser, borrow }, Pool: pool }, { PerUser: { a: own } })).not.toThrow();
  });

  test.each([
    [
      { ceiling: { count: 499, period: '1s' } },
      'ERR_LIMIT',
      "`overrides.PerUser['a'].borrow.ceiling` must be at least",
    ],
    [{ weight: -1 }, 'ERR_OPTION', "`overrides.PerUser['a'].borrow.weight` must be a number above 0"],
    [{ from: 'Other' }, 'ERR_UNKNOWN_OPTION', "`overrides.PerUser['a'].borrow` has no option `from`"],
  ])('is rejected with wrong options %o', (change, code, message) => {
    const wrong = error({}, { PerUser: { a: { ...big, borrow: change as never } } });
    expect([wrong.code, wrong.message.slice(0, message.length)]).toEqual([code, message]);
  });

  test('may have borrow only if the limit borrows', () => {
    const override = { ...big, borrow: { weight: 2 } };
    const { code, message } = thrown(() => make({ PerUser: perUser }, { PerUser: { a: override } }));
    expect([code, message]).toEqual([
      'ERR_UNKNOWN_OPTION',
      expect.stringContaining('`borrow` is for a limit that borrows, and this one does not.'),
    ]);
  });

  test('is not allowed for a pool', () => {
    const overrides = { Pool: { everyone: { count: 2000, period: '1s' } } };
    expect(error({}, overrides)).toMatchObject({
      code: 'ERR_OVERRIDE',
      message: expect.stringContaining('changes the numbers of a pool'),
    });
    const list = new OverrideList();
    list.add('Pool', pool, 'everyone', 'blocked');
    const limits = { PerUser: borrowLimit({ ...perUser, borrow }), Pool: pool };
    expect(thrown(() => createLimiter({ limits, overrides: list })).code).toBe('ERR_OVERRIDE');
  });
});
