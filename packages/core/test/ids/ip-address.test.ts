import { describe, expect, test } from 'vitest';
import { IpAddress } from '../../src/ids/ip-address.ts';

const parsed = (text: string): IpAddress => IpAddress.parse(text) ?? expect.fail(`${text} is an address`);

describe('one address has one text', () => {
  test.each([
    ['203.0.113.7', '203.0.113.7'],
    ['0.0.0.0', '0.0.0.0'],
    ['255.255.255.255', '255.255.255.255'],
    ['2001:db8::1', '2001:db8::1'],
    ['2001:DB8:0:0:0:0:0:1', '2001:db8::1'],
    ['2001:0db8:0000:0000:0000:0000:0000:0001', '2001:db8::1'],
    ['2001:db8:7:0:1234:5678:9abc:def0', '2001:db8:7:0:1234:5678:9abc:def0'],
    ['2001:db8:0:0:1:0:0:1', '2001:db8::1:0:0:1'],
    ['2001:0:0:1:0:0:0:1', '2001:0:0:1::1'],
    ['1::2:3:4:5:6:7', '1:0:2:3:4:5:6:7'],
    ['1:2:3:4:5:6:7::', '1:2:3:4:5:6:7:0'],
    ['::1:2:3:4:5:6:7', '0:1:2:3:4:5:6:7'],
    ['0:0:0:0:0:0:0:0', '::'],
    ['::', '::'],
    ['0:0::1', '::1'],
    ['1:0:0:0:0:0:0:0', '1::'],
  ])('%s is written %s', (spelling, text) => {
    expect(parsed(spelling).text).toBe(text);
    expect(String(parsed(spelling))).toBe(text);
  });
});

describe('an IPv4-mapped address is IPv4, in any notation', () => {
  test.each([
    '::ffff:203.0.113.7',
    '::FFFF:203.0.113.7',
    '::ffff:cb00:7107',
    '::ffff:CB00:7107',
    '0:0:0:0:0:ffff:203.0.113.7',
    '0000:0000:0000:0000:0000:ffff:cb00:7107',
    '0:0::ffff:203.0.113.7',
    '::0:ffff:cb00:7107',
    '::ffff:203.0.113.7%eth0',
  ])('%s is 203.0.113.7', (spelling) => {
    expect(parsed(spelling).family).toBe(4);
    expect(parsed(spelling).text).toBe('203.0.113.7');
    expect(parsed(spelling).network(24)).toBe('203.0.113.0/24');
  });
});

describe('an address that only looks like mapped IPv4 stays IPv6', () => {
  test.each([
    ['2001:db8::1.2.3.4', '2001:db8::102:304'],
    ['::1.2.3.4', '::102:304'],
    ['::ffff:0:1.2.3.4', '::ffff:0:102:304'],
    ['1::ffff:1.2.3.4', '1::ffff:102:304'],
    ['::1:ffff:1.2.3.4', '::1:ffff:102:304'],
    ['::ffff', '::ffff'],
    ['::ffff:1', '::ffff:1'],
    ['::fffe:1.2.3.4', '::fffe:102:304'],
    ['64:ff9b::1.2.3.4', '64:ff9b::102:304'],
    ['1:2:3:4:5:6:1.2.3.4', '1:2:3:4:5:6:102:304'],
  ])('%s is %s', (spelling, text) => {
    expect(parsed(spelling).family).toBe(6);
    expect(parsed(spelling).text).toBe(text);
  });
});

test.each([
  ['fe80::1%eth0', 'fe80::1'],
  ['fe80::1%br_lan', 'fe80::1'],
  ['FE80::1%12', 'fe80::1'],
])('the zone of %s is cut', (spelling, text) => {
  expect(parsed(spelling).text).toBe(text);
});

describe('a text that Node does not accept as an address is rejected', () => {
  test.each([
    '',
    'localhost',
    '127.1',
    '0x7f.1',
    '010.0.0.1',
    '2130706433',
    '256.0.0.1',
    '1.2.3',
    '1.2.3.4.5',
    '1.2.3.4:80',
    '1.2.3.4%eth0',
    ' 1.2.3.4',
    '1.2.3.4\n',
    '1.2.3.4\0',
    '[::1]',
    ':',
    ':::',
    '1::2::3',
    '12345::',
    'g::',
    '1:2:3:4:5:6:7',
    '1:2:3:4:5:6:7:8:9',
    '::ffff:1.2.3',
    '::ffff:1.2.3.256',
    '::ffff:',
    'fe80::1%',
    '%',
    '%eth0',
    '2001:db8::/48',
    'fe80::1%eth0/64',
    '１.2.3.4',
  ])('%j', (text) => {
    expect(IpAddress.parse(text)).toBeUndefined();
  });
});

describe('the network of an address has its first bits and no others', () => {
  test.each([
    ['10.1.2.3', 8, '10.0.0.0/8'],
    ['203.0.113.7', 0, '0.0.0.0/0'],
    ['203.0.113.7', 31, '203.0.113.6/31'],
    ['203.0.113.7', 32, '203.0.113.7/32'],
    ['172.31.255.255', 12, '172.16.0.0/12'],
    ['2001:db8:7:ffff::1', 48, '2001:db8:7::/48'],
    ['2001:db8:7:ffff::1', 56, '2001:db8:7:ff00::/56'],
    ['2001:db8:7:ffff::1', 64, '2001:db8:7:ffff::/64'],
    ['2001:db8:7:ffff::1', 49, '2001:db8:7:8000::/49'],
    ['2001:db8::1', 128, '2001:db8::1/128'],
    ['2001:db8::1', 0, '::/0'],
    ['::ffff:10.1.2.3', 8, '10.0.0.0/8'],
  ])('%s with %d bits is in %s', (address, prefixLength, network) => {
    expect(parsed(address).network(prefixLength)).toBe(network);
  });

  test.each([
    ['203.0.113.7', 33],
    ['203.0.113.7', -1],
    ['203.0.113.7', 1.5],
    ['2001:db8::1', 129],
    ['2001:db8::1', Number.NaN],
  ])('%s has no network of %d bits', (address, prefixLength) => {
    expect(() => parsed(address).network(prefixLength)).toThrow(/^`prefixLength` must be a whole number from 0 to/);
  });
});

describe('behind NAT64 an address can be decoded', () => {
  test.each([
    ['64:ff9b::203.0.113.7', '203.0.113.7'],
    ['64:ff9b::cb00:7107', '203.0.113.7'],
    ['64:ff9b:1::cb00:7107', '64:ff9b:1::cb00:7107'],
    ['64:ff9b::1:cb00:7107', '64:ff9b::1:cb00:7107'],
    ['64:ff9c::cb00:7107', '64:ff9c::cb00:7107'],
    ['65:ff9b::cb00:7107', '65:ff9b::cb00:7107'],
    ['2001:db8::1', '2001:db8::1'],
    ['203.0.113.7', '203.0.113.7'],
  ])('%s is then %s', (address, decoded) => {
    expect(parsed(address).decodeNat64().text).toBe(decoded);
  });
});
