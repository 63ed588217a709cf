import { describe, expect, test } from 'vitest';
import { clientNetworkFormat, ipAddressFormat, ipv6RangeFormat } from '../../src/ids/address-formats.ts';
import type { IdFormat } from '../../src/ids/id-format.ts';

const refusal = (reason: string): unknown =>
  expect.objectContaining({ code: 'ERR_ID', status: 400, message: expect.stringContaining(reason) });

const withoutBits = (): IdFormat => clientNetworkFormat({ ipv6PrefixLength: 0 });

describe('ipAddress', () => {
  test('is known by its name', () => {
    expect(ipAddressFormat.name).toBe('ipAddress');
  });

  test.each([
    ['203.0.113.7', '203.0.113.7'],
    ['::ffff:203.0.113.7', '203.0.113.7'],
    ['2001:DB8::0:1', '2001:db8::1'],
    ['fe80::1%eth0', 'fe80::1'],
  ])('%s is the id %s', (text, id) => {
    expect(ipAddressFormat.canonical(text)).toBe(id);
  });

  test.each(['', 'localhost', 'fe80::1%eth0/128', '203.0.113.0/24', '2001:db8::/48', '127.1', '203.0.113.7:80'])(
    'rejects %j',
    (text) => {
      expect(() => ipAddressFormat.canonical(text)).toThrow(refusal('`id` must be an IPv4 or IPv6 address'));
    },
  );
});

describe('ipv6RangeCIDR', () => {
  test('is known by its name', () => {
    expect(ipv6RangeFormat().name).toBe('ipv6RangeCIDR');
  });

  test.each([
    [48, '2001:db8:7::/48', '2001:db8:7::/48'],
    [48, '2001:DB8:0007:0::/48', '2001:db8:7::/48'],
    [48, '::/48', '::/48'],
    [64, '2001:db8:7:8::/64', '2001:db8:7:8::/64'],
    [56, '2001:db8:7:ff00::/56', '2001:db8:7:ff00::/56'],
    [128, '2001:db8::1/128', '2001:db8::1/128'],
    [1, '8000::/1', '8000::/1'],
  ])('with /%d: %s is the id %s', (prefixLength, text, id) => {
    expect(ipv6RangeFormat(prefixLength).canonical(text)).toBe(id);
  });

  test.each([
    ['', '`id` must be an IPv6 network with the mask /48'],
    ['nonsense/48', '`id` must be an IPv6 network with the mask /48'],
    ['203.0.113.7', 'IPv4 addresses, IPv4-mapped ones included, have no IPv6 range'],
    ['10.0.0.0/8', 'IPv4 addresses, IPv4-mapped ones included, have no IPv6 range'],
    ['::ffff:cb00:7107/48', 'IPv4 addresses, IPv4-mapped ones included, have no IPv6 range'],
    ['2001:db8:7::1', "has no mask. Write '2001:db8:7::/48'"],
    ['2001:db8:7::/64', "has the mask /64, not /48. Write '2001:db8:7::/48'"],
    ['2001:db8:7::/048', "has the mask /048, not /48. Write '2001:db8:7::/48'"],
    ['2001:db8:7::/48/48', "has the mask /48/48, not /48. Write '2001:db8:7::/48'"],
    ['2001:db8:7::1/48', "has host bits set. Write '2001:db8:7::/48'"],
    ['2001:db8::%eth0/48', "Write it without its zone: '2001:db8::/48'."],
    ['2001:db8:7::1%eth0', 'Write it without its zone'],
    ['2001:db8::/48%eth0', 'Write it without its zone'],
  ])('rejects %j and names the mistake', (text, reason) => {
    expect(() => ipv6RangeFormat().canonical(text)).toThrow(refusal(reason));
  });

  test.each([0, 129, 47.5, Number.NaN])('no range has a prefix of %d bits', (prefixLength) => {
    expect(() => ipv6RangeFormat(prefixLength)).toThrow(expect.objectContaining({ code: 'ERR_OPTION' }));
  });
});

describe('clientNetwork', () => {
  test('is known by its name', () => {
    expect(clientNetworkFormat().name).toBe('clientNetwork');
  });

  test.each([
    [48, '203.0.113.7', '203.0.113.7'],
    [48, '::ffff:203.0.113.7', '203.0.113.7'],
    [48, '2001:DB8:7:0::/48', '2001:db8:7::/48'],
    [64, '2001:db8:7:8::/64', '2001:db8:7:8::/64'],
  ])('with /%d: %s is the id %s', (ipv6PrefixLength, text, id) => {
    expect(clientNetworkFormat({ ipv6PrefixLength }).canonical(text)).toBe(id);
  });

  test.each([
    ['', 'an IPv4 address, or an IPv6 network with the mask /48'],
    ['localhost', 'an IPv4 address, or an IPv6 network with the mask /48'],
    ['10.0.0.0/8', 'an IPv4 address, or an IPv6 network with the mask /48'],
    ['2001:db8:7::1', "Write '2001:db8:7::/48'"],
    ['2001:db8:7::1/48', "Write '2001:db8:7::/48'"],
    ['2001:db8::%eth0/48', 'Write it without its zone'],
  ])('rejects %j and names the mistake', (text, reason) => {
    expect(() => clientNetworkFormat().canonical(text)).toThrow(refusal(reason));
  });

  test('an IPv6 prefix of 0 bits, one bucket for all clients, is rejected', () => {
    expect(withoutBits).toThrow(expect.objectContaining({ code: 'ERR_OPTION' }));
    expect(withoutBits).toThrow('`ipv6PrefixLength` must be a whole number from 1 to 128, but was 0.');
  });
});

describe('a text that is not an address is an error with a remedy that works', () => {
  const alone = "Write an address alone, without host name, port, brackets or mask: '203.0.113.7'.";
  const network = (range: string) =>
    `Write an IPv4 address such as '203.0.113.7', or an IPv6 network such as '${range}'.`;

  test.each<[format: IdFormat, text: string, remedy: string]>([
    [ipAddressFormat, '203.0.113.7:8080', "Write '203.0.113.7'."],
    [ipAddressFormat, ' 203.0.113.7\n', "Write '203.0.113.7'."],
    [ipAddressFormat, '[2001:DB8::1]:443', "Write '2001:db8::1'."],
    [ipAddressFormat, '[2001:db8::1]', "Write '2001:db8::1'."],
    [ipAddressFormat, '[203.0.113.7]', "Write '203.0.113.7'."],
    [ipAddressFormat, 'localhost', alone],
    [ipAddressFormat, '10.0.0.0/8', alone],
    [ipAddressFormat, '', alone],
    [ipAddressFormat, `203.0.113.7${' '.repeat(1000)}`, alone],
    [clientNetworkFormat(), '203.0.113.7:8080', "Write '203.0.113.7'."],
    [clientNetworkFormat(), '[2001:DB8:7::1]:443', "Write '2001:db8:7::/48'."],
    [clientNetworkFormat(), 'localhost', network('2001:db8:7::/48')],
    [clientNetworkFormat({ ipv6PrefixLength: 20 }), '10.0.0.0/8', network('2001::/20')],
    [clientNetworkFormat(), 'a:b', "Write an IPv6 network such as '2001:db8:7::/48'."],
    [ipv6RangeFormat(64), '[2001:db8::1]', "Write '2001:db8::/64'."],
    [ipv6RangeFormat(), 'localhost', "Write an IPv6 network such as '2001:db8:7::/48'."],
    [ipv6RangeFormat(), '', "Write an IPv6 network such as '2001:db8:7::/48'."],
  ])('%# %s', (format, text, remedy) => {
    expect(() => format.canonical(text)).toThrow(refusal(`. ${remedy}`));
    for (const [, id = ''] of remedy.matchAll(/'([^']*)'/g)) expect(format.canonical(id)).toBe(id);
  });
});
