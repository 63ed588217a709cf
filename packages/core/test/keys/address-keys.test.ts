import { clientNetwork, IpAddress, ipAddress, ipv6RangeCIDR, type Key } from '@sluice/core';
import { describe, expect, test } from 'vitest';
import { thrown } from '../support/thrown.ts';

const idOf = (key: Key, address: string) =>
  key.idOf!({ request: undefined, clientAddress: IpAddress.parse(address)! }, 'Requests');

test.each<[name: string, key: Key, address: string, id: string | null]>([
  ['ipAddress', ipAddress(), '203.0.113.7', '203.0.113.7'],
  ['ipAddress', ipAddress(), '::ffff:203.0.113.7', '203.0.113.7'],
  ['ipAddress', ipAddress(), '2001:DB8::0:1', '2001:db8::1'],
  ['ipv6RangeCIDR', ipv6RangeCIDR(), '2001:db8:7:8::9', '2001:db8:7::/48'],
  ['ipv6RangeCIDR', ipv6RangeCIDR({ prefixLength: 56 }), '2001:db8:7:1234::9', '2001:db8:7:1200::/56'],
  ['ipv6RangeCIDR', ipv6RangeCIDR({}), '203.0.113.7', null],
  ['ipv6RangeCIDR', ipv6RangeCIDR(), '::ffff:203.0.113.7', null],
  ['clientNetwork', clientNetwork(), '203.0.113.7', '203.0.113.7'],
  ['clientNetwork', clientNetwork(), '2001:db8:7:8::9', '2001:db8:7::/48'],
  ['clientNetwork', clientNetwork({ ipv6PrefixLength: 64 }), '2001:db8:7:8::9', '2001:db8:7:8::/64'],
])('%s (%#): the id of a client', (name, key, address, id) => {
  expect(key.format.name).toBe(name);
  expect(idOf(key, address)).toBe(id);
});

describe('wrong options are rejected when the key is created:', () => {
  test.each<[make: () => unknown, code: string, message: string]>([
    [
      () => ipv6RangeCIDR({ prefixLength: 0 }),
      'ERR_OPTION',
      '`ipv6PrefixLength` must be a whole number from 1 to 128, but was 0.',
    ],
    [
      () => clientNetwork({ ipv6PrefixLength: 129 }),
      'ERR_OPTION',
      '`ipv6PrefixLength` must be a whole number from 1 to 128, but was 129.',
    ],
    [() => ipv6RangeCIDR(56 as never), 'ERR_OPTION', '`ipv6RangeCIDR` must be an object, but was 56.'],
    [() => clientNetwork(64 as never), 'ERR_OPTION', '`clientNetwork` must be an object, but was 64.'],
    [
      () => ipv6RangeCIDR({ ipv6PrefixLength: 56 } as never),
      'ERR_UNKNOWN_OPTION',
      '`ipv6RangeCIDR` has no option `ipv6PrefixLength` (its value was 56). `ipv6PrefixLength` is `prefixLength` here. Options: prefixLength.',
    ],
    [
      () => clientNetwork({ prefixLength: 56 } as never),
      'ERR_UNKNOWN_OPTION',
      '`clientNetwork` has no option `prefixLength` (its value was 56). `prefixLength` is `ipv6PrefixLength` here. Options: ipv6PrefixLength.',
    ],
    [
      () => clientNetwork({ ipv6Subnet: 56 } as never),
      'ERR_UNKNOWN_OPTION',
      '`clientNetwork` has no option `ipv6Subnet` (its value was 56). `ipv6Subnet` is `ipv6PrefixLength` here. Options: ipv6PrefixLength.',
    ],
  ])('%#', (make, code, message) => {
    const error = thrown(make);
    expect(error.code).toBe(code);
    expect(error.message.slice(0, message.length)).toBe(message);
  });
});
