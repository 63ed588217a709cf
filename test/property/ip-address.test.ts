import { isIP } from 'node:net';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Cidr } from '../../packages/core/src/ids/cidr.ts';
import { IpAddress } from '../../packages/core/src/ids/ip-address.ts';
import { ipv4, ipv4Bits, ipv4Text, ipv6Groups, spelling } from './address-arbitraries.ts';

const textOf = (text: string): string | undefined => IpAddress.parse(text)?.text;

test('any two spellings of one IPv6 address have one text', () => {
  const twoSpellings = ipv6Groups.chain((groups) => fc.tuple(spelling(groups), spelling(groups)));
  fc.assert(
    fc.property(twoSpellings, ([one, other]) => {
      expect(textOf(one)).toBe(textOf(other));
      expect(textOf(one)).toBeDefined();
    }),
  );
});

test('the text of an IPv6 address is what the URL standard writes, unless it is mapped IPv4', () => {
  const spellings = ipv6Groups.chain((groups) => fc.record({ groups: fc.constant(groups), text: spelling(groups) }));
  fc.assert(
    fc.property(spellings, ({ groups, text }) => {
      const isMapped = groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff;
      const expected = isMapped
        ? ipv4Text(groups[6]! * 0x10000 + groups[7]!)
        : new URL(`http://[${text}]`).hostname.slice(1, -1);
      expect(textOf(text)).toBe(expected);
    }),
  );
});

test('any spelling of a mapped IPv4 address is that IPv4 address', () => {
  const mapped = ipv4Bits.chain((bits) => {
    const groups = [0, 0, 0, 0, 0, 0xffff, bits >>> 16, bits & 0xffff];
    return fc.record({ bits: fc.constant(bits), text: spelling(groups) });
  });
  fc.assert(
    fc.property(mapped, ({ bits, text }) => {
      expect(IpAddress.parse(text)).toMatchObject({ family: 4, text: ipv4Text(bits) });
    }),
  );
});

test('the canonical text of a text is that text', () => {
  const text = fc.oneof(ipv6Groups.chain(spelling), ipv4);
  fc.assert(
    fc.property(text, (spelt) => {
      const once = textOf(spelt)!;
      expect(textOf(once)).toBe(once);
    }),
  );
});

test('what net.isIP calls an address is one, and nothing else is', () => {
  const addressLike = fc.string({ unit: fc.constantFrom(...'0123456789abcdefF:::...% []/'.split('')), maxLength: 20 });
  const damaged = fc
    .tuple(ipv6Groups.chain(spelling), fc.nat(40), fc.constantFrom('', ':', '.', '0', 'g', ' '))
    .map(([text, at, inserted]) => text.slice(0, at) + inserted + text.slice(at + 1));
  fc.assert(
    fc.property(fc.oneof(fc.string(), addressLike, damaged), (text) => {
      // A zone may be any name of an interface here.
      fc.pre(!text.includes('%'));
      expect(IpAddress.parse(text) !== undefined).toBe(isIP(text) !== 0);
    }),
  );
});

test('an address is in its own network of any size, and the network is its own', () => {
  const cases = fc.oneof(ipv6Groups.chain(spelling), ipv4).chain((text) => {
    const address = IpAddress.parse(text)!;
    return fc.record({ address: fc.constant(address), prefixLength: fc.nat(address.family === 4 ? 32 : 128) });
  });
  fc.assert(
    fc.property(cases, ({ address, prefixLength }) => {
      const network = Cidr.parse(address.network(prefixLength), 'network');
      expect(network.contains(address)).toBe(true);
      expect(network.prefixLength).toBe(prefixLength);
    }),
  );
});

test('a network contains exactly the addresses whose first bits are its own', () => {
  const pairs = fc.record({ base: ipv4Bits, other: ipv4Bits, prefixLength: fc.integer({ min: 1, max: 32 }) });
  fc.assert(
    fc.property(pairs, ({ base, other, prefixLength }) => {
      const near = (base ^ (other >>> (prefixLength - 1))) >>> 0;
      const network = Cidr.parse(IpAddress.parse(ipv4Text(base))!.network(prefixLength), 'network');
      const expected = base >>> (32 - prefixLength) === near >>> (32 - prefixLength);
      expect(network.contains(IpAddress.parse(ipv4Text(near))!)).toBe(expected);
    }),
  );
});
