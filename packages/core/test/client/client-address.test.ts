import { describe, expect, test } from 'vitest';
import { clientAddressFinder, type ClientAddressOptions } from '../../src/client/client-address.ts';
import type { AddressedRequest } from '../../src/client/client-address.ts';
import { clientNetwork } from '../../src/keys/address-keys.ts';
import { workedMs } from '../../../../test/worked-ms.ts';
import { fakeRequest, requestFrom, requestOverUnixSocket } from '../support/fake-request.ts';

const warn = (): void => undefined;

/** The client's address in a request that carries this X-Forwarded-For. */
function clientOf(peer: string, forwardedFor: string | undefined, options: ClientAddressOptions = {}): string {
  const headers = forwardedFor === undefined ? {} : { 'x-forwarded-for': forwardedFor };
  return find(requestFrom(peer, headers), options);
}

function find(request: AddressedRequest, options: ClientAddressOptions): string {
  return clientAddressFinder({ ...options, warn })(request).text;
}

/** The error of this code whose message says this. */
const refusal = (code: string, message: string): unknown =>
  expect.objectContaining({ code, message: expect.stringContaining(message) });

const noAddress = (reason: string): unknown => refusal('ERR_NO_CLIENT_ADDRESS', reason);

/** Whether a peer may name its client when this is the one entry of trustedProxies. */
const trusts = (name: string, peer: string): boolean =>
  clientOf(peer, '203.0.113.7', { trustedProxies: [name] }) === '203.0.113.7';

const manyHops = (trusted: number): string => ['203.0.113.7', ...Array<string>(trusted).fill('10.0.0.2')].join(', ');

const finderWith = (options: object) => (): unknown => clientAddressFinder({ ...options, warn });

function networkOf(peer: string): unknown {
  const clientAddress = clientAddressFinder({ warn })(requestFrom(peer));
  return clientNetwork().idOf!({ request: undefined, clientAddress }, 'default');
}

describe('without trusted proxies the client is the peer', () => {
  test.each([
    ['203.0.113.7', '203.0.113.7'],
    ['::ffff:203.0.113.7', '203.0.113.7'],
    ['2001:db8:0:0::1', '2001:db8::1'],
    ['fe80::1%br_lan', 'fe80::1'],
  ])('%s is %s', (peer, client) => {
    expect(clientOf(peer, undefined)).toBe(client);
  });

  test.each([[undefined], [[]]])('a spoofed X-Forwarded-For is ignored (trustedProxies: %j)', (trustedProxies) => {
    const options = trustedProxies === undefined ? {} : { trustedProxies };
    expect(clientOf('203.0.113.7', '198.51.100.1', options)).toBe('203.0.113.7');
    expect(clientOf('127.0.0.1', '198.51.100.1', options)).toBe('127.0.0.1');
  });

  test('IPv4 clients of a dual-stack server each have their own id', () => {
    expect(networkOf('::ffff:203.0.113.7')).toBe('203.0.113.7');
    expect(networkOf('::ffff:203.0.113.8')).toBe('203.0.113.8');
  });

  test('two clients in one /48 share their client network, and those of another /48 do not', () => {
    expect(networkOf('2001:db8:7:1::1')).toBe('2001:db8:7::/48');
    expect(networkOf('2001:db8:7:ffff::2')).toBe('2001:db8:7::/48');
    expect(networkOf('2001:db8:8::1')).toBe('2001:db8:8::/48');
  });
});

describe('X-Forwarded-For is walked from the right to the first hop that is not trusted', () => {
  const trustedProxies = ['10.0.0.0/8', '::1'];
  test.each([
    ['one hop', '203.0.113.7', '203.0.113.7'],
    ['two hops, the right one trusted', '203.0.113.7, 10.0.0.2', '203.0.113.7'],
    ['the client wrote the leftmost one', '198.51.100.1, 203.0.113.7', '203.0.113.7'],
    ['the client wrote trusted ones, too', '198.51.100.1, 10.9.9.9, 203.0.113.7, 10.0.0.2', '203.0.113.7'],
    ['all are trusted: the leftmost', '10.0.0.3, 10.0.0.2', '10.0.0.3'],
    ['no spaces', '198.51.100.1,203.0.113.7,10.0.0.2', '203.0.113.7'],
    ['spaces and tabs', ' 203.0.113.7 \t,\t 10.0.0.2 ', '203.0.113.7'],
    ['mapped hops are IPv4', '203.0.113.7, ::ffff:10.0.0.2, ::ffff:a00:3', '203.0.113.7'],
    ['IPv6', '2001:DB8::0:7, ::1', '2001:db8::7'],
    ['an IPv4 port is cut', '203.0.113.7:4711, 10.0.0.2:80', '203.0.113.7'],
    ['an IPv6 port is cut', '[2001:db8::7]:4711, [::1]:80', '2001:db8::7'],
    ['brackets without a port are cut', '[2001:db8::7]', '2001:db8::7'],
    ['mapped IPv4 in brackets', '[::ffff:203.0.113.7]:80', '203.0.113.7'],
    ['IPv6 without brackets has no port', '2001:db8::7:4711', '2001:db8::7:4711'],
    ['a zone is cut', 'fe80::7%eth0', 'fe80::7'],
  ])('%s', (_case, header, client) => {
    expect(clientOf('10.0.0.1', header, { trustedProxies })).toBe(client);
  });

  test.each([
    ['empty header', '', '10.0.0.1'],
    ['only a comma', ',', '10.0.0.1'],
    ['nothing behind the last comma', '203.0.113.7,', '10.0.0.1'],
    ['an empty hop', '203.0.113.7, , 10.0.0.2', '10.0.0.2'],
    ['an empty first hop', ', 10.0.0.2', '10.0.0.2'],
    ['an empty first hop without a space', ',10.0.0.2', '10.0.0.2'],
    ['unknown', '203.0.113.7, unknown, 10.0.0.2', '10.0.0.2'],
    ['a name', '203.0.113.7, proxy.example, 10.0.0.2', '10.0.0.2'],
    ['nginx on a unix socket', '203.0.113.7, unix:', '10.0.0.1'],
    ['octal', '203.0.113.7, 012.0.0.1', '10.0.0.1'],
    ['a short form', '203.0.113.7, 10.1', '10.0.0.1'],
    ['a port that is none', '203.0.113.7, 10.0.0.2:http', '10.0.0.1'],
    ['IPv4 in brackets', '203.0.113.7, [10.0.0.2]:80', '10.0.0.1'],
    ['an open bracket', '203.0.113.7, [::1', '10.0.0.1'],
    ['text behind a bracket', '203.0.113.7, [::1]x', '10.0.0.1'],
    ['control characters', '203.0.113.7, 10.0.0.2\0', '10.0.0.1'],
    ['quotes', '203.0.113.7, "10.0.0.2"', '10.0.0.1'],
  ])('a hop that is not an address ends the walk at the last valid one: %s', (_case, header, client) => {
    expect(clientOf('10.0.0.1', header, { trustedProxies })).toBe(client);
  });

  test('a peer that is not trusted is the client, even if it sends headers', () => {
    expect(clientOf('203.0.113.7', '10.0.0.2', { trustedProxies })).toBe('203.0.113.7');
    expect(clientOf('127.0.0.1', '198.51.100.1', { trustedProxies })).toBe('127.0.0.1');
  });

  test('a trusted peer without the header is the client', () => {
    expect(clientOf('10.0.0.1', undefined, { trustedProxies })).toBe('10.0.0.1');
  });
});

describe('hostile headers are cheap and change nothing', () => {
  const trustedProxies = ['10.0.0.0/8'];
  const length = 100_000;
  test.each([
    ['commas', ','.repeat(length)],
    ['spaces', ' '.repeat(length)],
    ['colons', ':'.repeat(length)],
    ['digits', '1'.repeat(length)],
    ['digits and dots', '1.'.repeat(length / 2)],
    ['a port without end', `10.0.0.2:_${'x'.repeat(length)}`],
    ['brackets', '['.repeat(length)],
    ['brackets and colons', `[${':'.repeat(length)}`],
    ['quotes', '"'.repeat(length)],
    ['control characters', '\x01'.repeat(length)],
    ['a zone without end', `fe80::1%${'x'.repeat(length)}`],
  ])('100,000 characters: %s', (_case, header) => {
    for (const addressHeader of ['x-forwarded-for', 'forwarded', 'x-real-ip']) {
      const request = requestFrom('10.0.0.1', { [addressHeader]: header });
      const start = workedMs();
      expect(find(request, { trustedProxies, addressHeader })).toBe('10.0.0.1');
      // It takes a millisecond, and more than seconds if its square is read.
      expect(workedMs() - start).toBeLessThan(1000);
    }
  });

  test('behind 64 trusted hops nothing is read', () => {
    expect(clientOf('10.0.0.1', manyHops(63), { trustedProxies })).toBe('203.0.113.7');
    expect(clientOf('10.0.0.1', manyHops(64), { trustedProxies })).toBe('10.0.0.2');
    expect(clientOf('10.0.0.1', manyHops(10_000), { trustedProxies })).toBe('10.0.0.2');
  });
});

describe('a header with one address', () => {
  const options = { trustedProxies: ['10.0.0.0/8'], addressHeader: 'CF-Connecting-IP' };
  const from = (peer: string, value?: string): string =>
    find(requestFrom(peer, value === undefined ? {} : { 'cf-connecting-ip': value }), options);

  test('names the client when a trusted peer sends it', () => {
    expect(from('10.0.0.1', '203.0.113.7')).toBe('203.0.113.7');
    expect(from('10.0.0.1', ' 2001:DB8::7 ')).toBe('2001:db8::7');
    expect(from('10.0.0.1', '10.0.0.9')).toBe('10.0.0.9');
  });

  test('is ignored when any other peer sends it', () => {
    expect(from('198.51.100.1', '203.0.113.7')).toBe('198.51.100.1');
  });

  test.each([
    ['missing', undefined],
    ['empty', ''],
    ['a list', '203.0.113.7, 203.0.113.8'],
    ['a list of one', '203.0.113.7,'],
    ['no address', 'unknown'],
  ])('leaves the peer as the client when it is %s', (_case, value) => {
    expect(from('10.0.0.1', value)).toBe('10.0.0.1');
  });

  test('is read instead of X-Forwarded-For, not beside it', () => {
    const headers = { 'x-forwarded-for': '198.51.100.1', 'cf-connecting-ip': '203.0.113.7' };
    expect(find(requestFrom('10.0.0.1', headers), options)).toBe('203.0.113.7');
    expect(find(requestFrom('10.0.0.1', { 'x-forwarded-for': '198.51.100.1' }), options)).toBe('10.0.0.1');
  });
});

test('a request without a socket, as some serverless adapters make it, has no address', () => {
  expect(() => find({ peer: undefined, header: () => undefined }, {})).toThrow(noAddress('it has no socket'));
});

describe('NAT64', () => {
  const nat64 = '64:ff9b::203.0.113.7';

  test('clients go by their IPv6 address unless decodeNat64 is set', () => {
    expect(clientOf(nat64, undefined)).toBe('64:ff9b::cb00:7107');
    expect(clientOf(nat64, undefined, { decodeNat64: false })).toBe('64:ff9b::cb00:7107');
    expect(clientOf(nat64, undefined, { decodeNat64: true })).toBe('203.0.113.7');
    expect(clientOf('10.0.0.1', nat64, { decodeNat64: true, trustedProxies: ['private'] })).toBe('203.0.113.7');
  });

  test('a decoded address is never taken for a trusted proxy', () => {
    const options = { decodeNat64: true, trustedProxies: ['private'] };
    expect(clientOf('10.0.0.1', '198.51.100.1, 64:ff9b::10.0.0.2', options)).toBe('10.0.0.2');
    expect(clientOf('64:ff9b::10.0.0.2', '198.51.100.1', options)).toBe('10.0.0.2');
  });
});

describe('a request without any address is an error, never a shared bucket', () => {
  const forwarded = { 'x-forwarded-for': '203.0.113.7' };

  test.each([undefined, ''])('a unix socket that is not trusted (remoteAddress: %j)', (remoteAddress) => {
    const request = fakeRequest({ remoteAddress }, forwarded);
    expect(() => find(request, {})).toThrow(noAddress("set trustedProxies: ['unix']"));
    expect(() => find(request, { trustedProxies: ['private', 'loopback'] })).toThrow(
      noAddress("set trustedProxies: ['unix']"),
    );
  });

  test.each([undefined, ''])('a trusted unix socket is believed (remoteAddress: %j)', (remoteAddress) => {
    const request = fakeRequest({ remoteAddress }, { 'x-forwarded-for': '198.51.100.1, 203.0.113.7' });
    expect(find(request, { trustedProxies: ['unix'] })).toBe('203.0.113.7');
  });

  test('a trusted unix socket that names no client', () => {
    const options = { trustedProxies: ['unix'] };
    expect(() => find(requestOverUnixSocket(), options)).toThrow(noAddress('without a usable x-forwarded-for header'));
    expect(() => find(requestOverUnixSocket({ 'x-forwarded-for': 'unknown' }), options)).toThrow(
      noAddress('proxy_set_header X-Forwarded-For'),
    );
    expect(() => find(requestOverUnixSocket(), { ...options, addressHeader: 'Forwarded' })).toThrow(
      noAddress('without a usable forwarded header'),
    );
  });

  test('a closed connection does not count as a unix socket, even where those are trusted', () => {
    const options = { trustedProxies: ['unix'] };
    expect(() => find(fakeRequest({ destroyed: true }, forwarded), options)).toThrow(
      noAddress('its connection is already closed'),
    );
    expect(() => find(fakeRequest({ localPort: 80 }, forwarded), options)).toThrow(
      noAddress('its connection is already closed'),
    );
  });

  test('a remote address that is not an address', () => {
    expect(() => find(requestFrom('localhost', forwarded), { trustedProxies: ['loopback'] })).toThrow(
      noAddress('is not an IP address'),
    );
  });
});

describe('wrong options are rejected when the finder is created', () => {
  test.each([true, 1, 'loopback', '10.0.0.0/8', null, {}])('trustedProxies: %j', (trustedProxies) => {
    expect(finderWith({ trustedProxies })).toThrow(refusal('ERR_OPTION', "trustedProxies: ['"));
  });

  test.each([
    [['loopback', 'localhost'], '`trustedProxies[1]` must be a network'],
    [[''], "or 'loopback', 'private' or 'unix', but was ''"],
    [[1], '`trustedProxies[0]` must be a network'],
    [['toString'], "or 'loopback', 'private' or 'unix', but was 'toString'"],
    [['uniquelocal'], "Write trustedProxies: ['private']."],
    [['linklocal'], "Write trustedProxies: ['169.254.0.0/16', 'fe80::/10']."],
    [['10.0.0.1/8'], "Write '10.0.0.0/8' for the network"],
    [['proxy.example'], '`trustedProxies[0]` must be a network in CIDR notation'],
    [['0.0.0.0/0'], "must not be everyone, but was '0.0.0.0/0'"],
    [['::/0'], "must not be everyone, but was '::/0'"],
    [['::ffff:0:0/96'], "must not be everyone, but was '0.0.0.0/0'"],
  ])('trustedProxies: %j', (trustedProxies, message) => {
    expect(finderWith({ trustedProxies })).toThrow(refusal('ERR_CIDR', message));
  });

  test.each(['', 'two words', 'x:y', 'x\n', 1, null])('addressHeader: %j', (addressHeader) => {
    expect(finderWith({ addressHeader, trustedProxies: [] })).toThrow(
      refusal('ERR_OPTION', '`addressHeader` must be the name of a header'),
    );
  });

  test('an addressHeader without trusted proxies', () => {
    expect(finderWith({ addressHeader: 'forwarded' })).toThrow(
      refusal('ERR_OPTION', "add e.g. trustedProxies: ['loopback']"),
    );
  });

  test('decodeNat64 that is not a boolean', () => {
    expect(finderWith({ decodeNat64: 'yes' })).toThrow(refusal('ERR_OPTION', '`decodeNat64` must be true or false'));
  });
});

describe('the names of networks', () => {
  test.each(['127.0.0.1', '127.255.255.255', '::1', '::ffff:127.0.0.1'])('loopback has %s', (peer) => {
    expect(trusts('loopback', peer)).toBe(true);
    expect(trusts('private', peer)).toBe(false);
  });

  test.each(['10.1.2.3', '172.16.0.1', '172.31.255.255', '192.168.0.1', 'fc00::1', 'fdff::1', '::ffff:10.1.2.3'])(
    'private has %s',
    (peer) => {
      expect(trusts('private', peer)).toBe(true);
      expect(trusts('loopback', peer)).toBe(false);
    },
  );

  test.each(['172.32.0.1', '192.169.0.1', '100.64.0.1', '169.254.1.1', 'fe80::1', '2001:db8::1', '11.0.0.1'])(
    'neither has %s',
    (peer) => {
      expect(trusts('private', peer)).toBe(false);
      expect(trusts('loopback', peer)).toBe(false);
    },
  );

  test('unix can be combined with networks', () => {
    const options = { trustedProxies: ['unix', '198.51.100.1'] };
    expect(clientOf('198.51.100.1', '203.0.113.7', options)).toBe('203.0.113.7');
    expect(clientOf('198.51.100.2', '203.0.113.7', options)).toBe('198.51.100.2');
  });
});
