import { isIPv4, isIPv6 } from 'node:net';
import { wholeNumber } from '../options.ts';
import { groupMask, ipv4Groups, ipv4Text, ipv6Groups, ipv6Text, isMapped, isNat64 } from './ip-groups.ts';

const MAPPED_PREFIX = '::ffff:';

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
  #groups: readonly number[] | undefined;

  private constructor(family: 4 | 6, text: string | undefined, groups: readonly number[] | undefined) {
    this.family = family;
    this.#text = text;
    this.#groups = groups;
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
    return isIPv6(unzoned) ? IpAddress.#fromGroups(ipv6Groups(unzoned)) : undefined;
  }

  static #fromGroups(groups: readonly number[]): IpAddress {
    return isMapped(groups) ? new IpAddress(4, undefined, groups.slice(6)) : new IpAddress(6, undefined, groups);
  }

  /** Dotted IPv4, or IPv6 as RFC 5952 section 4 writes it: lower case, the longest run of zeros as `::`, no dots. */
  get text(): string {
    return (this.#text ??= this.family === 4 ? ipv4Text(this.#bits) : ipv6Text(this.#bits));
  }

  /**
   * The network that the address is in, as a CIDR without host bits: `10.0.0.0/8`, `2001:db8:7::/48`.
   *
   * @param prefixLength - How many bits the network keeps: 0–32 for IPv4, 0–128 for IPv6.
   * @throws {SluiceError} `ERR_OPTION` for any other prefix length.
   */
  network(prefixLength: number): string {
    wholeNumber('prefixLength', prefixLength, { min: 0, max: this.family === 4 ? 32 : 128 });
    const kept = this.#bits.map((group, index) => group & groupMask(prefixLength - 16 * index));
    return `${this.family === 4 ? ipv4Text(kept) : ipv6Text(kept)}/${prefixLength}`;
  }

  /** Whether the first bits of this address and of another one of its family are the same. */
  sharesPrefix(other: IpAddress, prefixLength: number): boolean {
    if (this.family !== other.family) return false;
    const mine = this.#bits;
    const theirs = other.#bits;
    for (let index = 0; index * 16 < prefixLength; index++) {
      const difference = mine[index]! ^ theirs[index]!;
      if ((difference & groupMask(prefixLength - 16 * index)) !== 0) return false;
    }
    return true;
  }

  /**
   * The IPv4 address behind NAT64's well-known prefix `64:ff9b::/96` (RFC 6052 section 2.1), or this address
   * itself. Without it every client that one translator serves shares the range `64:ff9b::/48`.
   */
  decodeNat64(): IpAddress {
    if (this.family === 4 || !isNat64(this.#bits)) return this;
    return new IpAddress(4, undefined, this.#bits.slice(6));
  }

  /** The same as {@link text}. */
  toString(): string {
    return this.text;
  }

  get #bits(): readonly number[] {
    return (this.#groups ??= ipv4Groups(this.text));
  }
}

// Zones are names of interfaces, which may hold characters that net.isIP refuses in a zone (`br_lan`).
function withoutZone(text: string): string {
  const percent = text.indexOf('%');
  return percent < 0 || percent === text.length - 1 ? text : text.slice(0, percent);
}
