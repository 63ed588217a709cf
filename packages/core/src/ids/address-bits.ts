/** The bits of an address. */
export interface AddressBits {
  readonly family: 4 | 6;
  /** Words of 32 bits, the first bits first: one word for IPv4, four for IPv6. Overwritten by the next call. */
  readonly words: Uint32Array;
}

const DOT = 0x2e;
const SLASH = 0x2f;
const COLON = 0x3a;
const ZERO = 0x30;
const LETTER_A = 0x61;

const words = new Uint32Array(4);
const groups = new Uint16Array(8);

/**
 * Reads the bits of an address or a network in the canonical spelling of {@link IpAddress} and {@link Cidr}. It
 * validates nothing, because ids are already valid, and it is fast, because it runs for each request.
 */
export function addressBits(canonical: string): AddressBits {
  return canonical.includes(':')
    ? { family: 6, words: ipv6Words(canonical) }
    : { family: 4, words: ipv4Words(canonical) };
}

function ipv4Words(text: string): Uint32Array {
  let word = 0;
  let octet = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === SLASH) break;
    if (code === DOT) {
      word = (word << 8) | octet;
      octet = 0;
    } else {
      octet = octet * 10 + code - ZERO;
    }
  }
  words[0] = (word << 8) | octet;
  return words;
}

function ipv6Words(text: string): Uint32Array {
  readGroups(text);
  for (let i = 0; i < 4; i++) words[i] = (groups[2 * i]! << 16) | groups[2 * i + 1]!;
  return words;
}

function readGroups(text: string): void {
  let count = 0;
  let gapAt = -1;
  let group = 0;
  let digits = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === SLASH) break;
    if (code !== COLON) {
      group = (group << 4) | (code < LETTER_A ? code - ZERO : code - LETTER_A + 10);
      digits++;
    } else if (digits === 0) {
      gapAt = count;
    } else {
      groups[count++] = group;
      group = digits = 0;
    }
  }
  if (digits > 0) groups[count++] = group;
  if (gapAt >= 0) widenGap(gapAt, count);
}

/** Expands `::` to the missing zeros. */
function widenGap(gapAt: number, count: number): void {
  const after = gapAt + groups.length - count;
  groups.copyWithin(after, gapAt, count);
  groups.fill(0, gapAt, after);
}
