import fc from 'fast-check';

const group = fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, fc.nat(0xffff), fc.constantFrom(0xffff, 1, 0x64));

/** The eight groups of an IPv6 address, often with runs of zeros, sometimes IPv4-mapped. */
export const ipv6Groups: fc.Arbitrary<number[]> = fc.oneof(
  { weight: 5, arbitrary: fc.array(group, { minLength: 8, maxLength: 8 }) },
  fc.tuple(fc.nat(0xffff), fc.nat(0xffff)).map((last) => [0, 0, 0, 0, 0, 0xffff, ...last]),
);

/** The bits of an IPv4 address. */
export const ipv4Bits: fc.Arbitrary<number> = fc.nat(0xffffffff);

/** IPv4 bits as dotted text. */
export function ipv4Text(bits: number): string {
  return [bits >>> 24, (bits >>> 16) & 0xff, (bits >>> 8) & 0xff, bits & 0xff].join('.');
}

/** An IPv4 address as dotted text. */
export const ipv4: fc.Arbitrary<string> = ipv4Bits.map(ipv4Text);

/** Any way to write an IPv6 address: upper case, leading zeros, any run of zeros left out or none, dots at the end. */
export function spelling(groups: readonly number[]): fc.Arbitrary<string> {
  const style = fc.record({
    digits: fc.integer({ min: 1, max: 4 }),
    upperCase: fc.boolean(),
    dotted: fc.boolean(),
    gapAt: fc.nat(8),
    gapLength: fc.integer({ min: 1, max: 8 }),
  });
  return style.map(({ digits, upperCase, dotted, gapAt, gapLength }) => {
    const last = dotted ? [ipv4Text(groups[6]! * 0x10000 + groups[7]!)] : [];
    const parts = [...groups.slice(0, dotted ? 6 : 8).map((part) => part.toString(16).padStart(digits, '0')), ...last];
    const gap = parts.slice(gapAt, gapAt + gapLength);
    const isGap = gap.length > 0 && gap.every((part) => /^0+$/.test(part));
    const before = parts.slice(0, gapAt).join(':');
    const text = isGap ? `${before}::${parts.slice(gapAt + gap.length).join(':')}` : parts.join(':');
    return upperCase ? text.toUpperCase() : text;
  });
}
