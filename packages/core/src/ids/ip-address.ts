import { isIPv4, isIPv6 } from 'node:net';
import ipaddr from 'ipaddr.js';
import { wholeNumber } from '../checks/options.ts';

type Bits = ipaddr.IPv4 | ipaddr.IPv6;

const MAPPED_PREFIX = '::ffff:';
/** NAT64's well-known prefix (RFC 6052 section 2.1). */
const NAT64 = ipaddr.IPv6.parse('64:ff9b::');

/**
 * An IP address by its bits, never by its notation: every spelling of an address has one text.
 *
 * An IPv4-mapped IPv6 address (`::ffff:203.0.113.7`, `::ffff:cb00:7107`), as dual-stack sockets give it, is that
 * IPv4 address (RFC 4291 section 2.5.5.2). The deprecated IPv4-compatible `::203.0.113.7` and addresses that merely
 * end in dots (`2001:db8::203.0.113.7`) are IPv6.
 */
export class IpAddress {
  /** 4 for IPv4 and IPv4-mapped IPv6, 6 for all other IPv6. */
  readonly family: 4 | 6;
  // What the address was not made from is worked out when it is first asked for: most IPv4 requests need no bits.
  #text: string | undefined;
  #bits: Bits | undefined;

  private constructor(family: 4 | 6, text: string | undefined, bits: Bits | undefined) {
    this.family = family;
    this.#text = text;
    this.#bits = bits;
  }

  /**
   * Reads an address, or gives `undefined` for any other text: Node's `net.isIP` decides what is one, so `127.1`,
   * `0x7f.1`, `010.0.0.1`, ports, brackets and spaces are refused. The zone of an IPv6 address (`%eth0`) is cut.
   */
  static parse(text: string): IpAddress | undefined {
    // The two ways in which sockets give IPv4, without reading any bits.
    const dotted = text.startsWith(MAPPED_PREFIX) ? text.slice(MAPPED_PREFIX.length) : text;
    if (isIPv4(dotted)) return new IpAddress(4, dotted, undefined);
    const unzoned = withoutZone(text);
    if (!isIPv6(unzoned)) return undefined;
    const bits = ipaddr.IPv6.parse(inGroups(unzoned));
    return bits.isIPv4MappedAddress()
      ? new IpAddress(4, undefined, bits.toIPv4Address())
      : new IpAddress(6, undefined, bits);
  }

  /** Dotted IPv4, or IPv6 as RFC 5952 section 4 writes it: lower case, the longest run of zeros as `::`, no dots. */
  get text(): string {
    return (this.#text ??= textOf(this.#read()));
  }

  /**
   * The network that the address is in, as a CIDR without host bits: `10.0.0.0/8`, `2001:db8:7::/48`.
   *
   * @param prefixLength - How many bits the network keeps: 0–32 for IPv4, 0–128 for IPv6.
   * @throws {SluiceError} `ERR_OPTION` for any other prefix length.
   */
  network(prefixLength: number): string {
    wholeNumber('prefixLength', prefixLength, { min: 0, max: this.family === 4 ? 32 : 128 });
    const bits = this.#read();
    const kept =
      bits instanceof ipaddr.IPv6
        ? new ipaddr.IPv6(masked(bits.parts, 16, prefixLength))
        : new ipaddr.IPv4(masked(bits.octets, 8, prefixLength));
    return `${textOf(kept)}/${prefixLength}`;
  }

  /** Whether the first bits of this address and of another one of its family are the same. */
  sharesPrefix(other: IpAddress, prefixLength: number): boolean {
    return this.family === other.family && this.#read().match(other.#read(), prefixLength);
  }

  /**
   * The IPv4 address behind NAT64's well-known prefix `64:ff9b::/96` (RFC 6052 section 2.1), or this address
   * itself. Without it every client that one translator serves shares the range `64:ff9b::/48`.
   */
  decodeNat64(): IpAddress {
    const bits = this.#read();
    if (bits.kind() === 'ipv4' || !bits.match(NAT64, 96)) return this;
    return new IpAddress(4, undefined, new ipaddr.IPv4(bits.toByteArray().slice(12)));
  }

  /** The same as {@link text}. */
  toString(): string {
    return this.text;
  }

  #read(): Bits {
    return (this.#bits ??= ipaddr.IPv4.parse(this.text));
  }
}

function masked(groups: readonly number[], bitsPerGroup: number, prefixLength: number): number[] {
  return groups.map((group, index) => {
    const cut = Math.min(bitsPerGroup, Math.max(0, (index + 1) * bitsPerGroup - prefixLength));
    return (group >> cut) << cut;
  });
}

function textOf(bits: Bits): string {
  return bits instanceof ipaddr.IPv6 ? bits.toRFC5952String() : bits.toString();
}

// Zones are names of interfaces, which may hold characters that net.isIP refuses in a zone (`br_lan`), but no slash:
// what has a slash behind a zone is meant to be a network.
function withoutZone(text: string): string {
  const percent = text.indexOf('%');
  return percent < 0 || percent === text.length - 1 || text.includes('/', percent) ? text : text.slice(0, percent);
}

// ipaddr.js takes `::203.0.113.7` for an IPv4-mapped address, which it is not: it gets no dots to see.
function inGroups(text: string): string {
  if (!text.includes('.')) return text;
  const colon = text.lastIndexOf(':');
  const [a, b, c, d] = ipaddr.IPv4.parse(text.slice(colon + 1)).toByteArray() as [number, number, number, number];
  return `${text.slice(0, colon)}:${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`;
}
