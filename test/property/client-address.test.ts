import fc from 'fast-check';
import { expect, test } from 'vitest';
import { clientAddressFinder } from '../../packages/core/src/client/client-address.ts';
import type { AddressedRequest } from '../../packages/core/src/client/client-address.ts';
import { IpAddress } from '../../packages/core/src/ids/ip-address.ts';
import { ipv4, ipv6Groups, spelling } from './address-arbitraries.ts';

const warn = (): void => undefined;
const trustedProxies = ['10.0.0.0/8', 'fd00::/8'];
const chain = clientAddressFinder({ trustedProxies, warn });
const forwarded = clientAddressFinder({ trustedProxies, addressHeader: 'forwarded', warn });
const single = clientAddressFinder({ trustedProxies, addressHeader: 'x-real-ip', warn });

function request(remoteAddress: string, headers: Record<string, string>): AddressedRequest {
  return { peer: IpAddress.parse(remoteAddress), header: (name) => headers[name] };
}

const isTrusted = (text: string): boolean => text.startsWith('10.') || text.startsWith('fd');
const address = fc.oneof(ipv4, ipv6Groups.chain(spelling)).map((text) => IpAddress.parse(text)!.text);
const stranger = address.filter((text) => !isTrusted(text));
const proxy = fc.oneof(
  fc.tuple(fc.nat(255), fc.nat(255)).map(([a, b]) => `10.0.${a}.${b}`),
  fc.nat(0xffff).map((last) => IpAddress.parse(`fd00::${last.toString(16)}`)!.text),
);
const hostile = fc.oneof(
  fc.string(),
  fc.string({ unit: fc.constantFrom('for=', ...'0123456789abcdef:.,,;="\\[] \0'.split('')) }),
  fc.array(fc.oneof(address, proxy), { maxLength: 5 }).map((hops) => hops.join(', ')),
);
const proxies = fc.array(proxy, { maxLength: 5 });

test('whatever a client writes into X-Forwarded-For, the client is the address that the outermost trusted proxy saw', () => {
  fc.assert(
    fc.property(hostile, stranger, proxies, proxy, (written, client, hops, peer) => {
      const header = [written, client, ...hops].join(', ');
      expect(chain(request(peer, { 'x-forwarded-for': header })).text).toBe(client);
    }),
  );
});

test('whatever a client writes into Forwarded, the client is the address that the outermost trusted proxy saw', () => {
  fc.assert(
    fc.property(hostile, stranger, proxies, proxy, (written, client, hops, peer) => {
      const elements = [client, ...hops].map(
        (hop) => `for="${hop.includes(':') ? `[${hop}]:4711` : hop}";host="a,\\"b"`,
      );
      const header = [written, ...elements].join(', ');
      expect(forwarded(request(peer, { forwarded: header })).text).toBe(client);
    }),
  );
});

test('a peer that is not trusted can not change its address by a header', () => {
  fc.assert(
    fc.property(hostile, stranger, (written, peer) => {
      const headers = { 'x-forwarded-for': written, forwarded: written, 'x-real-ip': written };
      for (const find of [chain, forwarded, single]) expect(find(request(peer, headers)).text).toBe(peer);
    }),
  );
});

test('a hop to the left of one that is not an address is never the client', () => {
  const noAddress = fc.oneof(
    fc.string().filter((text) => !text.includes(',')),
    fc.constantFrom('unknown', '_x', ''),
  );
  fc.assert(
    fc.property(hostile, noAddress, proxies, proxy, (written, damaged, hops, peer) => {
      fc.pre(IpAddress.parse(damaged.trim()) === undefined);
      const header = [written, damaged, ...hops].join(', ');
      expect(chain(request(peer, { 'x-forwarded-for': header })).text).toBe(hops[0] ?? peer);
    }),
  );
});

test('no header text makes it throw', () => {
  fc.assert(
    fc.property(fc.oneof(hostile, fc.string({ unit: 'binary' })), proxy, (written, peer) => {
      const headers = { 'x-forwarded-for': written, forwarded: written, 'x-real-ip': written };
      for (const find of [chain, forwarded, single]) expect(find(request(peer, headers))).toBeInstanceOf(IpAddress);
    }),
  );
});
