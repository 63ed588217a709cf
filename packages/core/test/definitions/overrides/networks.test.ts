import {
  accountId,
  clientNetwork,
  createLimiter,
  ipAddress,
  ipv6RangeCIDR,
  memoryStore,
  type Key,
  type Override,
} from '@sluice/core';
import { FakeTime } from '@sluice/core/testing';
import { describe, expect, test } from 'vitest';
import { rejected, thrown } from '../../support/thrown.ts';

const per = (count: number): Override => ({ count, period: '1s' });

const limiterOf = (key: Key, overrides: Readonly<Record<string, Override>>) =>
  createLimiter({
    limits: { Requests: { key, count: 1, period: '1s' } },
    overrides: { Requests: overrides },
    store: memoryStore({ time: new FakeTime() }),
  });

/** The burst of each id. */
const bursts = (key: Key, overrides: Readonly<Record<string, Override>>, ids: readonly string[]) => {
  const limiter = limiterOf(key, overrides);
  return ids.map((id) => limiter.checkSync([{ limit: 'Requests', id }]).results[0]?.burst ?? 'unlimited');
};

describe('an id that is not valid in an entry is not valid in an override:', () => {
  const keys: readonly [string, Key][] = [
    ['ipAddress', ipAddress()],
    ['ipv6RangeCIDR', ipv6RangeCIDR()],
    ['clientNetwork', clientNetwork()],
  ];
  const texts = [
    '2001:db8::%eth0/48',
    '2001:db8::%eth0/128',
    '2001:db8::/48%eth0',
    '2001:db8::%/48',
    '10.0.0.0%eth0/8',
  ];
  test.each(keys.flatMap(([name, key]) => texts.map((text) => ({ name, key, text }))))(
    '$text of $name',
    async ({ key, text }) => {
      expect(thrown(() => limiterOf(key, { [text]: per(5) })).code).toBe('ERR_OVERRIDE');
      expect((await rejected(() => limiterOf(key, {}).spend([{ limit: 'Requests', id: text }]))).code).toBe('ERR_ID');
    },
  );
});

describe('an override of a network', () => {
  test('applies to every address in it, and to no other', () => {
    const ids = ['10.20.0.0', '10.20.255.255', '10.19.255.255', '10.21.0.0', '2001:db8::10.20.0.1'];
    expect(bursts(ipAddress(), { '10.20.0.0/16': per(5) }, ids)).toEqual([5, 5, 1, 1, 1]);
  });

  test('applies to the addresses of IPv6 networks, to the bit', () => {
    const ids = ['2001:db8::', '2001:db8:7fff::1', '2001:db8:8000::', '2001:db9::'];
    expect(bursts(ipAddress(), { '2001:db8::/33': per(5) }, ids)).toEqual([5, 5, 1, 1]);
  });

  test('is replaced by a longer prefix, in any order, and both by an override of the id itself', () => {
    const overrides = { '10.0.0.0/24': per(4), '10.0.0.7': per(5), '10.0.0.0/8': per(2), '10.0.0.0/16': per(3) };
    const ids = ['10.1.0.0', '10.0.1.0', '10.0.0.1', '10.0.0.7', '11.0.0.0'];
    expect(bursts(ipAddress(), overrides, ids)).toEqual([2, 3, 4, 5, 1]);
  });

  test('may let everyone in it through, but for a smaller network', () => {
    const overrides: Record<string, Override> = { '10.0.0.0/8': 'unlimited', '10.9.0.0/16': per(3) };
    expect(bursts(ipAddress(), overrides, ['10.1.2.3', '10.9.2.3'])).toEqual(['unlimited', 3]);
  });

  test('may be all of IPv4, which is not all of IPv6', () => {
    const ids = ['0.0.0.0', '255.255.255.255', '::', '2001:db8::1'];
    expect(bursts(ipAddress(), { '0.0.0.0/0': per(5) }, ids)).toEqual([5, 5, 1, 1]);
    expect(bursts(ipAddress(), { '::/0': per(5) }, ids)).toEqual([1, 1, 5, 5]);
  });

  test('that is IPv4-mapped is the IPv4 network', () => {
    expect(bursts(ipAddress(), { '::ffff:10.0.0.0/104': per(5) }, ['10.1.2.3', '::ffff:10.1.2.3'])).toEqual([5, 5]);
  });

  test('applies to the ranges in it', () => {
    const overrides = { '2001:db8::/32': per(5), '2001:db8:7::/48': per(6) };
    const ids = ['2001:db8:1::/48', '2001:db8:7::/48', '2001:db9:7::/48'];
    expect(bursts(ipv6RangeCIDR(), overrides, ids)).toEqual([5, 6, 1]);
  });

  test('applies to client networks: IPv4 addresses and IPv6 ranges', () => {
    const overrides = { '10.0.0.0/8': per(5), '2001:db8::/32': per(6), '2001:db8:7::/48': per(7) };
    const ids = ['10.1.2.3', '2001:db8:1::/48', '2001:db8:7::/48', '11.1.2.3'];
    expect(bursts(clientNetwork(), overrides, ids)).toEqual([5, 6, 7, 1]);
  });

  test('of one address is that address', () => {
    const overrides = { '10.0.0.1/32': per(5), '2001:db8::1/128': per(6), '::ffff:10.0.0.2/128': per(7) };
    expect(bursts(ipAddress(), overrides, ['10.0.0.1', '2001:db8::1', '10.0.0.2', '10.0.0.3'])).toEqual([5, 6, 7, 1]);
    expect(bursts(clientNetwork(), { '10.0.0.1/32': per(5) }, ['10.0.0.1', '10.0.0.2'])).toEqual([5, 1]);
    const ranges = ipv6RangeCIDR({ prefixLength: 128 });
    expect(bursts(ranges, { '2001:db8::1/128': per(5) }, ['2001:db8::1/128', '2001:db8::2/128'])).toEqual([5, 1]);
  });

  test('counts for each address on its own', () => {
    const limiter = limiterOf(ipAddress(), { '10.0.0.0/8': per(2) });
    const spend = (id: string) => limiter.spendSync([{ limit: 'Requests', id }]).allowed;
    expect([spend('10.0.0.1'), spend('10.0.0.1'), spend('10.0.0.1'), spend('10.0.0.2')]).toEqual([
      true,
      true,
      false,
      true,
    ]);
  });

  test('is plain text where ids are not addresses', () => {
    expect(bursts(accountId(), { '10.0.0.0/8': per(5) }, ['10.0.0.0/8', '10.1.2.3'])).toEqual([5, 1]);
  });

  test('is found among ten thousand', () => {
    const overrides: Record<string, Override> = {};
    for (let i = 0; i < 10_000; i++) overrides[`10.${i >> 8}.${i & 255}.0/24`] = per(i + 2);
    const ids = ['10.0.0.1', '10.0.255.1', '10.39.15.255', '10.39.16.0'];
    expect(bursts(ipAddress(), overrides, ids)).toEqual([2, 257, 10_001, 1]);
  });
});

describe('an override of a network is rejected', () => {
  test.each<[string, Key, Readonly<Record<string, Override>>, string]>([
    [
      'with host bits, naming the network',
      ipAddress(),
      { '10.20.0.1/16': per(5) },
      "`overrides.Requests` lists the id '10.20.0.1/16': `id` must be a network in CIDR notation, such as '10.0.0.0/8' or '2001:db8::/32', but was '10.20.0.1/16'. It has host bits set. Write '10.20.0.0/16' for the network, or '10.20.0.1' for the one address.",
    ],
    [
      'narrower than the ids',
      ipv6RangeCIDR(),
      { '2001:db8:7:1::/64': per(5) },
      "`overrides.Requests` lists the id '2001:db8:7:1::/64': `id` must be an IPv6 network with the mask /48, but was '2001:db8:7:1::/64'. It has the mask /64, not /48. Write '2001:db8:7::/48'.",
    ],
    [
      'of a family that has no ids',
      ipv6RangeCIDR(),
      { '10.0.0.0/8': per(5) },
      "`overrides.Requests` lists the id '10.0.0.0/8': `id` must be an IPv6 network with the mask /48, but was '10.0.0.0/8'. IPv4 addresses, IPv4-mapped ones included, have no IPv6 range.",
    ],
    [
      'with a prefix length that there is not',
      ipAddress(),
      { '10.0.0.0/33': per(5) },
      "`overrides.Requests` lists the id '10.0.0.0/33': `id` must be a network in CIDR notation, such as '10.0.0.0/8' or '2001:db8::/32', but was '10.0.0.0/33'. The prefix length is 0–32 for IPv4, 0–128 for IPv6 and 96–128 for IPv4-mapped IPv6.",
    ],
    [
      'in a second spelling',
      ipAddress(),
      { '2001:db8::/32': per(5), '2001:DB8:0::/32': per(6) },
      "`overrides.Requests` lists the id '2001:db8::/32' twice (the second time as '2001:DB8:0::/32'). Keep one of the two.",
    ],
    [
      'and of the address in it',
      ipAddress(),
      { '10.0.0.1': per(5), '10.0.0.1/32': per(6) },
      "`overrides.Requests` lists the id '10.0.0.1' twice (the second time as '10.0.0.1/32'). Keep one of the two.",
    ],
  ])('%s', (_, key, overrides, message) => {
    expect(thrown(() => limiterOf(key, overrides))).toMatchObject({ code: 'ERR_OVERRIDE', message });
  });
});
