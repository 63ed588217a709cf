import { describe, expect, test } from 'vitest';
import { clientAddressFinder } from '../../src/client/client-address.ts';
import { requestFrom } from '../support/fake-request.ts';

/** The client of a request that a trusted proxy, 10.0.0.1, sent with this Forwarded header. */
function clientOf(forwarded: string): string {
  const trustedProxies = ['10.0.0.0/8', '::1'];
  const find = clientAddressFinder({ trustedProxies, addressHeader: 'forwarded', warn: () => undefined });
  return find(requestFrom('10.0.0.1', { forwarded })).text;
}

describe('Forwarded (RFC 7239) names the hops', () => {
  test.each([
    ['for=203.0.113.7'],
    ['For=203.0.113.7'],
    ['for="203.0.113.7"'],
    ['for="203.0.113.7:4711"'],
    ['for="203.0.113.7:_port"'],
    ['for=203.0.113.7;proto=https;by=10.0.0.1'],
    ['by=10.0.0.1;for=203.0.113.7;host=example.com'],
    ['by=10.0.0.1 ; for=203.0.113.7'],
    ['for=203.0.113.7;'],
    ['host="a,b";for=203.0.113.7'],
    ['host="a\\",b";for=203.0.113.7'],
    ['host="a\\\\";for=203.0.113.7'],
    ['for="203.0.113\\.7"'],
    ['for="[::ffff:203.0.113.7]:80"'],
    ['for=203.0.113.7, for=10.0.0.2'],
    ['for=203.0.113.7,for="[::1]:80";proto=http'],
    ['for=198.51.100.1, for=203.0.113.7, for=10.0.0.2'],
  ])('%s comes from 203.0.113.7', (header) => {
    expect(clientOf(header)).toBe('203.0.113.7');
  });

  test.each([
    ['for="[2001:db8::7]"', '2001:db8::7'],
    ['for="[2001:DB8::7]:4711"', '2001:db8::7'],
    ['FOR="[2001:db8::7]:_x.y-z"', '2001:db8::7'],
  ])('%s comes from %s', (header, client) => {
    expect(clientOf(header)).toBe(client);
  });
});

describe('an element without an address ends the walk', () => {
  test.each([
    ['unknown', 'for=203.0.113.7, for=unknown'],
    ['obfuscated', 'for=203.0.113.7, for=_hidden'],
    ['obfuscated, quoted', 'for=203.0.113.7, for="_SEVKISEK"'],
    ['without for', 'for=203.0.113.7, proto=https;by=10.0.0.1'],
    ['for twice', 'for=203.0.113.7;for=203.0.113.8'],
    ['for twice, once empty', 'for=203.0.113.7;for='],
    ['empty for', 'for=203.0.113.7, for='],
    ['empty quoted for', 'for=203.0.113.7, for=""'],
    ['empty element', 'for=203.0.113.7,'],
    ['no parameter at all', '203.0.113.7'],
    ['a space before =', 'for =203.0.113.7'],
    ['an open quote', 'for="203.0.113.7'],
    ['text behind a quote', 'for="203.0.113.7"x'],
    ['too long', `for=203.0.113.7;x=${'y'.repeat(1024)}`],
  ])('%s', (_case, header) => {
    expect(clientOf(header)).toBe('10.0.0.1');
  });
});

describe('quotes that the client left open do not change what the proxy appended', () => {
  test.each([
    ['for="', 'for=203.0.113.7'],
    ['for="', 'for="203.0.113.7:4711"'],
    ['for="198.51.100.1', 'for="203.0.113.7"'],
    ['for="198.51.100.1, for=198.51.100.2', 'for="203.0.113.7";host="a,b"'],
    ['for=198.51.100.1;x="\\', 'for="203.0.113.7"'],
    ['\\"', 'for="203.0.113.7"'],
  ])('%s, %s', (written, appended) => {
    expect(clientOf(`${written}, ${appended}`)).toBe('203.0.113.7');
  });
});
