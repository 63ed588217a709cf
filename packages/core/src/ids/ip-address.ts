import ipaddr from 'ipaddr.js';
import { wholeNumber } from '../checks/options.ts';
import { isIPv4, isIPv6 } from './address-text.ts';

type Bits = ipaddr.IPv4 | ipaddr.IPv6;

const MAPPED_PREFIX = '::ffff:';
/** The well-known prefix of NAT64 (RFC 6052 section 2.1). */
const NAT64 = new ipaddr.IPv6([0x64, 0xff9b, 0, 0, 0, 0, 0, 0]);

/**
 * An IP address. It is defined by its bits and not by its notation: all spellings of an address have the same {@link
 * text}.
 *
 * An IPv4-mapped IPv6 address (`::ffff:203.0.113.7`, `::ffff:cb00:7107`), as dual-stack sockets report it, becomes the
 * IPv4 address (RFC 4291 section 2.5.5.2). The deprecated IPv4-compatible `::203.0.113.7`, and addresses that only end
 * in dotted notation (`2001:db8::203.0.113.7`), remain IPv6.
 */
export class IpAddress {
  /** 4 for IPv4 and IPv4-mapped IPv6, 6 for all other IPv6. */
  readonly family: 4 | 6;
  // Either is computed from the other when it is first read: most IPv4 requests need no bits.
  #text: string | undefined;
  #bits: Bits | undefined;

  private constructor(family: 4 | 6, text: string | undefined, bits: Bits | undefined) {
    this.family = family;
    this.#text = text;
    this.#bits = bits;
  }

  /**
   * Parses an address; returns `undefined` for any other text. What Node's `net.isIP` takes is an address, so
   * `127.1`, `0x7f.1`, `010.0.0.1`, ports, brackets and spaces are rejected. The zone of an IPv6 address (`%eth0`) is
   * removed.
   */
  static parse(text: string): IpAddress | undefined {
    // Sockets report IPv4 in these two spellings, for which no bits have to be computed.
    const dotted = text.startsWith(MAPPED_PREFIX) ? text.slice(MAPPED_PREFIX.length) : text;
    if (isIPv4(dotted)) return new IpAddress(4, dotted, undefined);
    const unzoned = withoutZone(text);
    if (!isIPv6(unzoned)) return undefined;
    const bits = ipaddr.IPv6.parse(inGroups(unzoned));
    return bits.isIPv4MappedAddress()
      ? new IpAddress(4, undefined, bits.toIPv4Address())
      : new IpAddress(6, undefined, bits);
  }

  /**
   * The canonical text: dotted IPv4, or IPv6 as in RFC 5952 section 4 (lower case, the longest run of zeros as `::`, no
   * dots).
   */
  get text(): string {
    return (this.#text ??= textOf(this.#read()));
  }

  /**
   * Returns the network of the address, as a CIDR without host bits: `10.0.0.0/8`, `2001:db8:7::/48`.
   *
   * @param prefixLength - The number of bits of the network: 0 to 32 for IPv4, 0 to 128 for IPv6.
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

  /**
   * Whether the first `prefixLength` bits of this address and of another one are equal; false if their families differ.
   */
  sharesPrefix(other: IpAddress, prefixLength: number): boolean {
    return this.family === other.family && this.#read().match(other.#read(), prefixLength);
  }

  /**
   * Returns the IPv4 address in an address of NAT64's well-known prefix `64:ff9b::/96` (RFC 6052 section 2.1),
   * otherwise this address. Without this conversion, all clients of a translator share the range `64:ff9b::/48`.
   */
  decodeNat64(): IpAddress {
    const bits = this.#read();
    if (bits.kind() === 'ipv4' || !bits.match(NAT64, 96)) return this;
    return new IpAddress(4, undefined, new ipaddr.IPv4(bits.toByteArray().slice(12)));
  }

  /** Returns {@link text}. */
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

// Zones are names of interfaces, which can contain characters that net.isIP rejects in a zone (`br_lan`), but no slash:
// a text with a slash after the zone is meant as a network.
function withoutZone(text: string): string {
  const percent = text.indexOf('%');
  return percent < 0 || percent === text.length - 1 || text.includes('/', percent) ? text : text.slice(0, percent);
}

// ipaddr.js parses `::203.0.113.7` as an IPv4-mapped address, which it is not. So dotted notation is converted to
// groups.
function inGroups(text: string): string {
  if (!text.includes('.')) return text;
  const colon = text.lastIndexOf(':');
  const [a, b, c, d] = ipaddr.IPv4.parse(text.slice(colon + 1)).toByteArray() as [number, number, number, number];
  return `${text.slice(0, colon)}:${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`;
}
