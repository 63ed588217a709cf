import fc from 'fast-check';
import { expect, test } from 'vitest';
import { addressBits } from '../../packages/core/src/ids/address-bits.ts';
import { Cidr } from '../../packages/core/src/ids/cidr.ts';
import { IpAddress } from '../../packages/core/src/ids/ip-address.ts';
import { NetworkMap } from '../../packages/core/src/definitions/overrides/network-map.ts';
import { ipv4Bits, ipv4Text, ipv6Groups, spelling } from './address-arbitraries.ts';

test('the bits of an IPv4 address or network are those that its text was made of', () => {
  fc.assert(
    fc.property(ipv4Bits, fc.nat(32), (bits, length) => {
      expect([...addressBits(ipv4Text(bits)).words.subarray(0, 1)]).toEqual([bits]);
      expect(addressBits(`${ipv4Text(bits)}/${length}`).words[0]).toBe(bits);
    }),
  );
});

test('the bits of an IPv6 address or network are those that its text was made of', () => {
  const unmapped = ipv6Groups.filter((groups) => groups[5] !== 0xffff || groups.slice(0, 5).some((group) => group > 0));
  const written = unmapped.chain((groups) => fc.tuple(fc.constant(groups), spelling(groups), fc.nat(128)));
  fc.assert(
    fc.property(written, ([groups, text, length]) => {
      const address = IpAddress.parse(text)!.text;
      const words = [0, 2, 4, 6].map((i) => groups[i]! * 0x10000 + groups[i + 1]!);
      for (const read of [address, `${address}/${length}`]) {
        expect(addressBits(read)).toMatchObject({ family: 6, words: new Uint32Array(words) });
      }
    }),
  );
});

test('an address has the value of the longest network that contains it, in any order of insertion', () => {
  const near = fc.constantFrom('10.0.0.0', '10.0.0.1', '10.128.0.0', '138.0.0.0', '2001:db8::', '2001:db8:8000::1');
  const address = fc
    .oneof(near, ipv4Bits.map(ipv4Text), ipv6Groups.chain(spelling))
    .map((text) => IpAddress.parse(text)!);
  const network = fc
    .tuple(address, fc.nat(128))
    .map(([of, length]) => Cidr.parse(of.network(of.family === 4 ? length % 33 : length), 'network'));
  const networks = fc.uniqueArray(network, { selector: ({ text }) => text, maxLength: 30 });
  fc.assert(
    fc.property(networks, fc.array(address, { minLength: 1, maxLength: 10 }), (all, addresses) => {
      const map = new NetworkMap<string>();
      for (const each of all) map.set(each, each.text);
      for (const each of all) expect(map.get(each)).toBe(each.text);
      for (const of of addresses) {
        const holding = all.filter((each) => each.contains(of)).toSorted((a, b) => b.prefixLength - a.prefixLength);
        expect(map.lookUp(of.text, (value) => value)).toBe(holding[0]?.text);
        expect(map.prefixLengthFor(of.text, (value) => value)).toBe(holding[0]?.prefixLength);
      }
    }),
  );
});
