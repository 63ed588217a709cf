import { accountId, by, createLimiter, ipAddress, ipv6RangeCIDR, OverrideList } from '@sluice/core';
import { describe, expect, test } from 'vitest';
import { prepareCost } from '../../support/fixed-cost.ts';
import { limiterOnFakeTime } from '../../support/limiter-on-fake-time.ts';
import { thrown } from '../../support/thrown.ts';
import type { LimitNumbers } from '../../../src/rule/rate.ts';

const orders = { key: accountId() };
const numbers = { Orders: { count: 2, period: '1s' } };
const gold: LimitNumbers = { count: 7, period: '1s' };

describe('a list of overrides', () => {
  test('works like a table', () => {
    const overrides = new OverrideList();
    overrides.add('Orders', orders, 'alice', gold);
    overrides.add('Orders', orders, 'robot', 'unlimited');
    const { limiter } = limiterOnFakeTime(numbers, { overrides });
    const remaining = (id: string) => limiter.checkSync([{ limit: 'Orders', id }]).remaining;
    expect([remaining('alice'), remaining('bob'), remaining('robot')]).toEqual([7, 2, Infinity]);
  });

  test('returns the canonical spelling of an id', () => {
    const overrides = new OverrideList();
    expect(overrides.add('Requests', { key: ipAddress() }, '2001:DB8::0:1', gold)).toBe('2001:db8::1');
    expect(overrides.add('Requests', { key: ipAddress() }, '2001:DB8::0/32', gold)).toBe('2001:db8::/32');
  });

  test('looks at one object of numbers once, however many ids it is for', () => {
    let looks = 0;
    const counted = {
      get count() {
        looks++;
        return 7;
      },
      period: '1s',
    };
    const overrides = new OverrideList();
    overrides.add('Orders', orders, 'a', counted);
    const looksForOne = looks;
    for (const id of ['b', 'c']) overrides.add('Orders', orders, id, counted);
    expect(looks).toBe(looksForOne);
    expect(overrides.rateOf('Orders', 'c')).toMatchObject({ burst: 7 });
  });

  test('rejects an id that it already has, and keeps the first override', () => {
    const overrides = new OverrideList();
    overrides.add('Orders', orders, 'alice', gold);
    expect(thrown(() => overrides.add('Orders', orders, 'alice', 'unlimited'))).toMatchObject({
      code: 'ERR_OVERRIDE',
      message: "`overrides.Orders` lists the id 'alice' twice. Keep one of the two.",
    });
    expect(overrides.rateOf('Orders', 'alice')).toMatchObject({ burst: 7 });
  });

  test('rejects numbers out of range and values that are not numbers', () => {
    const add = (override: unknown) =>
      thrown(() => new OverrideList().add('Orders', orders, 'a', override as 'unlimited'));
    expect(add({ count: 0, period: '1s' })).toMatchObject({
      code: 'ERR_OPTION',
      message: expect.stringMatching(/^`overrides\.Orders\['a'\]\.count` must be/) as string,
    });
    expect(add('limitless')).toMatchObject({ code: 'ERR_OVERRIDE' });
  });

  test('is rejected when it names an unknown limit', () => {
    const overrides = new OverrideList();
    overrides.add('Odors', orders, 'alice', gold);
    expect(thrown(() => limiterOnFakeTime(numbers, { overrides }))).toMatchObject({
      code: 'ERR_OVERRIDE',
      message:
        '`overrides.Odors` is not the name of a limit. Overrides are listed by limit, then by id. Limits: Orders.',
    });
  });

  test('is rejected when its ids are of another format than the limit’s', () => {
    const overrides = new OverrideList();
    overrides.add('Orders', { key: ipAddress() }, '203.0.113.7', gold);
    expect(thrown(() => limiterOnFakeTime(numbers, { overrides }))).toMatchObject({
      code: 'ERR_OVERRIDE',
      message:
        '`overrides.Orders` has ids of the format ipAddress, but the key of the limit has accountId. Use the same key for both.',
    });
  });

  test('is rejected when its ranges are of another size than the limit’s', () => {
    const overrides = new OverrideList();
    overrides.add('Requests', { key: ipv6RangeCIDR() }, '2001:db8:7::/48', gold);
    const limits = { Requests: { key: ipv6RangeCIDR({ prefixLength: 56 }), ...gold } };
    expect(thrown(() => createLimiter({ limits, overrides }))).toMatchObject({
      code: 'ERR_OVERRIDE',
      message:
        '`overrides.Requests` has ids of the format ipv6RangeCIDR (IPv6 /48), but the key of the limit has ipv6RangeCIDR (IPv6 /56). Use the same key for both.',
    });
  });

  test('has one format for each limit', () => {
    const overrides = new OverrideList();
    overrides.add('Orders', orders, 'alice', gold);
    expect(thrown(() => overrides.add('Orders', { key: ipAddress() }, '10.0.0.1', gold)).code).toBe('ERR_OVERRIDE');
  });

  test.each<[string, () => string, string]>([
    ['throws nothing', () => throwing(null), 'null'],
    ['throws text', () => throwing('no'), "'no'"],
    ['gives no text', () => 5 as never, '`id` of limit "Orders" must be text'],
  ])('rejects an id whose format %s', (_, canonical, reason) => {
    const error = thrown(() =>
      new OverrideList().add('Orders', { key: by(undefined, { format: { name: 'odd', canonical } }) }, 'a', gold),
    );
    expect(error.code).toBe('ERR_OVERRIDE');
    expect(error.message).toContain(reason);
  });

  test('takes nothing more once a limiter has it', () => {
    const overrides = new OverrideList();
    limiterOnFakeTime(numbers, { overrides });
    expect(thrown(() => overrides.add('Orders', orders, 'alice', gold))).toMatchObject({
      code: 'ERR_OVERRIDE',
      message: `This list of overrides is in use by a limiter, so the id 'alice' of limit "Orders" can't be added. Make a new OverrideList and pass it to limiter.replace().`,
    });
  });

  test('bounds fixed costs by its smallest burst, networks included', () => {
    const overrides = new OverrideList();
    overrides.add('Requests', { key: ipAddress() }, '203.0.113.7', { burst: 4, count: 9, period: '1s' });
    overrides.add('Requests', { key: ipAddress() }, '10.0.0.0/8', { burst: 3, count: 9, period: '1s' });
    overrides.add('Requests', { key: ipAddress() }, '10.0.0.1', 'unlimited');
    const limits = { Requests: { key: ipAddress(), count: 9, period: '1s' } };
    const limiter = createLimiter({ limits, overrides });
    expect(() => prepareCost(limiter, 'Requests', 3)).not.toThrow();
    expect(thrown(() => prepareCost(limiter, 'Requests', 4)).message).toContain('at most 3, the smallest burst');
  });
});

function throwing(what: unknown): never {
  throw what;
}
