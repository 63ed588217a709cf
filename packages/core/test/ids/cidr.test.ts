import { describe, expect, test } from 'vitest';
import { SluiceError } from '../../src/checks/errors.ts';
import { Cidr } from '../../src/ids/cidr.ts';
import { IpAddress } from '../../src/ids/ip-address.ts';

const contains = (network: string, address: string): boolean =>
  Cidr.parse(network, 'cidr').contains(IpAddress.parse(address)!);

describe('a network has one spelling', () => {
  test.each([
    ['10.0.0.0/8', 4, 8, '10.0.0.0/8'],
    ['0.0.0.0/0', 4, 0, '0.0.0.0/0'],
    ['2001:DB8:0:0::/32', 6, 32, '2001:db8::/32'],
    ['::/0', 6, 0, '::/0'],
    ['203.0.113.7', 4, 32, '203.0.113.7/32'],
    ['2001:db8::1', 6, 128, '2001:db8::1/128'],
    ['::ffff:10.0.0.0/104', 4, 8, '10.0.0.0/8'],
    ['::ffff:0:0/96', 4, 0, '0.0.0.0/0'],
    ['::ffff:cb00:7107', 4, 32, '203.0.113.7/32'],
  ])('%s is an IPv%d network of %d bits, %s', (text, family, prefixLength, canonical) => {
    expect(Cidr.parse(text, 'cidr')).toMatchObject({ family, prefixLength, text: canonical });
  });
});

describe('a network contains the addresses that share its bits', () => {
  test.each([
    ['10.0.0.0/8', '10.255.255.255', true],
    ['10.0.0.0/8', '11.0.0.0', false],
    ['10.0.0.0/8', '9.255.255.255', false],
    ['10.0.0.0/8', '::ffff:10.1.2.3', true],
    ['::ffff:10.0.0.0/104', '10.1.2.3', true],
    ['172.16.0.0/12', '172.31.255.255', true],
    ['172.16.0.0/12', '172.32.0.0', false],
    ['203.0.113.7', '203.0.113.7', true],
    ['203.0.113.7', '203.0.113.6', false],
    ['128.0.0.0/1', '255.0.0.0', true],
    ['128.0.0.0/1', '127.0.0.0', false],
    ['fc00::/7', 'fdff::1', true],
    ['fc00::/7', 'fe00::', false],
    ['2001:db8:7::/48', '2001:db8:7:ffff::', true],
    ['2001:db8:7::/48', '2001:db8:8::', false],
    ['::/0', '2001:db8::1', true],
    ['0.0.0.0/0', '203.0.113.7', true],
  ])('%s, %s: %s', (network, address, inside) => {
    expect(contains(network, address)).toBe(inside);
  });

  test.each([
    ['0.0.0.0/0', '2001:db8::1'],
    ['::/0', '203.0.113.7'],
    ['::/0', '::ffff:203.0.113.7'],
  ])('%s does not contain %s, which is of the other family', (network, address) => {
    expect(contains(network, address)).toBe(false);
  });
});

describe('a text that is not a network is rejected with the name of the option', () => {
  test.each([
    ['', 'a network in CIDR notation'],
    ['10/8', 'a network in CIDR notation'],
    ['10.0.0.0/8/8', '0–32 for IPv4'],
    ['10.0.0.0/', '0–32 for IPv4'],
    ['10.0.0.0/33', '0–32 for IPv4'],
    ['10.0.0.0/08', '0–32 for IPv4'],
    ['10.0.0.0/-1', '0–32 for IPv4'],
    ['10.0.0.0/255.0.0.0', '0–32 for IPv4'],
    ['2001:db8::/129', '0–128 for IPv6'],
    ['::ffff:10.0.0.0/8', '96–128 for IPv4-mapped IPv6'],
    ['fe80::%eth0/10', 'a network in CIDR notation'],
    [' 10.0.0.0/8', 'a network in CIDR notation'],
  ])('%j', (text, demand) => {
    const error = refusal(text);
    expect(error.code).toBe('ERR_CIDR');
    expect(error.message).toContain('`trustedProxies[0]`');
    expect(error.message).toContain(demand);
    expect(error.message).toContain(`but was '${text}'`);
  });

  test.each([
    ['10.0.0.1/8', "Write '10.0.0.0/8' for the network, or '10.0.0.1' for the one address"],
    ['2001:db8::1/32', "Write '2001:db8::/32' for the network, or '2001:db8::1' for the one address"],
    ['::ffff:10.0.0.1/104', "Write '10.0.0.0/8' for the network, or '10.0.0.1' for the one address"],
  ])('%s has host bits set: the message names what was probably meant', (text, remedy) => {
    expect(refusal(text).message).toContain(remedy);
  });
});

function refusal(text: string): SluiceError {
  try {
    Cidr.parse(text, 'trustedProxies[0]');
  } catch (error) {
    if (error instanceof SluiceError) return error;
  }
  return expect.fail(`${text} is refused`);
}
