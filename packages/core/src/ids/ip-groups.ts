/**
 * The bits of IP addresses in groups of 16, the first ones first: two groups for IPv4, eight for IPv6.
 *
 * Nothing here refuses anything: texts are addresses that Node's `net.isIP` has accepted, so reading them takes no
 * more than arithmetic, a tenth of what a parser that checks needs.
 *
 * @module
 */

const DOT = 0x2e;
const COLON = 0x3a;

/** Reads an IPv6 address without a zone. */
export function ipv6Groups(text: string): number[] {
  const dot = text.indexOf('.');
  if (dot < 0) return expanded(hexGroups(text), 8);
  const colon = text.lastIndexOf(':');
  return [...expanded(hexGroups(text.slice(0, colon)), 6), ...ipv4Groups(text.slice(colon + 1))];
}

interface HexGroups {
  readonly groups: number[];
  /** Before which group `::` stands; −1 when nothing is left out. */
  readonly gap: number;
}

function hexGroups(text: string): HexGroups {
  const groups: number[] = [];
  let gap = -1;
  let group = 0;
  let digits = 0;
  for (let index = 0; index <= text.length; index++) {
    const code = index < text.length ? text.charCodeAt(index) : COLON;
    if (code !== COLON) {
      group = group * 16 + hexDigit(code);
      digits++;
    } else if (digits > 0) {
      groups.push(group);
      group = digits = 0;
    } else {
      gap = groups.length;
    }
  }
  return { groups, gap };
}

function expanded({ groups, gap }: HexGroups, length: number): number[] {
  if (gap < 0) return groups;
  const all: number[] = [];
  for (let index = 0; index < gap; index++) all.push(groups[index]!);
  while (all.length < length - (groups.length - gap)) all.push(0);
  for (let index = gap; index < groups.length; index++) all.push(groups[index]!);
  return all;
}

// '0'–'9' are 0x30–0x39; 'A'–'F' and 'a'–'f' have 1–6 in their last four bits.
function hexDigit(code: number): number {
  return (code & 0xf) + (code > 0x39 ? 9 : 0);
}

/** Reads a dotted IPv4 address. */
export function ipv4Groups(text: string): number[] {
  let bits = 0;
  let octet = 0;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code === DOT) {
      bits = bits * 256 + octet;
      octet = 0;
    } else {
      octet = octet * 10 + (code & 0xf);
    }
  }
  bits = bits * 256 + octet;
  return [bits >>> 16, bits & 0xffff];
}

/** Whether eight groups are an IPv4-mapped address, `::ffff:0:0/96` (RFC 4291 section 2.5.5.2). */
export function isMapped(groups: readonly number[]): boolean {
  return groups[5] === 0xffff && groups.findIndex((group) => group !== 0) === 5;
}

/** Whether eight groups lie under NAT64's well-known prefix, `64:ff9b::/96` (RFC 6052 section 2.1). */
export function isNat64(groups: readonly number[]): boolean {
  return groups[0] === 0x64 && groups[1] === 0xff9b && groups.slice(2, 6).every((group) => group === 0);
}

/** The mask of one group when the prefix has this many bits left for it and those behind it. */
export function groupMask(bitsLeft: number): number {
  if (bitsLeft >= 16) return 0xffff;
  return bitsLeft <= 0 ? 0 : 0xffff & (0xffff << (16 - bitsLeft));
}

/** Two groups as dotted IPv4. */
export function ipv4Text(groups: readonly number[]): string {
  return groups.map((group) => `${group >>> 8}.${group & 0xff}`).join('.');
}

/** Eight groups as RFC 5952 section 4 writes them: lower case, no leading zeros, the first of the longest runs of zeros as `::`. */
export function ipv6Text(groups: readonly number[]): string {
  const { start, length } = longestZeroRun(groups);
  // A single group of zeros is written out (section 4.2.2).
  if (length < 2) return hexText(groups, 0, 8);
  return `${hexText(groups, 0, start)}::${hexText(groups, start + length, 8)}`;
}

function longestZeroRun(groups: readonly number[]): { start: number; length: number } {
  let longest = { start: 0, length: 0 };
  let start = 0;
  for (let index = 0; index < 8; index++) {
    if (groups[index] !== 0) start = index + 1;
    else if (index + 1 - start > longest.length) longest = { start, length: index + 1 - start };
  }
  return longest;
}

function hexText(groups: readonly number[], from: number, to: number): string {
  let text = '';
  for (let index = from; index < to; index++) {
    text += index === from ? groups[index]!.toString(16) : `:${groups[index]!.toString(16)}`;
  }
  return text;
}
