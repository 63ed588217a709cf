import { complaint, type SluiceError } from '../checks/errors.ts';
import { IpAddress } from './ip-address.ts';

const PREFIX_LENGTH = /^(?:0|[1-9]\d{0,2})$/;
const MAPPED_BITS = 96;

/** A network of IP addresses, such as `10.0.0.0/8` or `2001:db8::/32`. */
export class Cidr {
  readonly family: 4 | 6;
  readonly prefixLength: number;
  /** The canonical spelling of the network: without host bits, the address spelled as in {@link IpAddress.text}. */
  readonly text: string;
  readonly #address: IpAddress;

  private constructor(address: IpAddress, prefixLength: number, text: string) {
    this.family = address.family;
    this.prefixLength = prefixLength;
    this.text = text;
    this.#address = address;
  }

  /**
   * Parses a CIDR. A bare address is a network of one address, `/32` or `/128`. An IPv4-mapped IPv6 CIDR is an IPv4
   * network: `::ffff:10.0.0.0/104` is `10.0.0.0/8`. With a prefix shorter than `/96` it is an error.
   *
   * @param option - The path of the option in error messages: `trustedProxies[0]`.
   * @throws {SluiceError} `ERR_CIDR` when the text is not a CIDR, has a zone, or has host bits set.
   */
  static parse(text: string, option: string): Cidr {
    const { address, prefixLength } = read(text);
    if (address === undefined) throw notACidr(text, option);
    if (prefixLength === undefined) throw badPrefixLength(text, option);
    const network = address.network(prefixLength);
    if (network !== `${address.text}/${prefixLength}`) throw hostBits(text, option, network, address);
    return new Cidr(address, prefixLength, network);
  }

  /** Returns the size of a network, which may have host bits set; `undefined` when the text is not a network. */
  static sizeOf(text: string): { readonly family: 4 | 6; readonly prefixLength: number } | undefined {
    const { address, prefixLength } = read(text);
    return address && prefixLength !== undefined ? { family: address.family, prefixLength } : undefined;
  }

  /** Whether an address is in the network. An address of the other family never is. */
  contains(address: IpAddress): boolean {
    return this.#address.sharesPrefix(address, this.prefixLength);
  }
}

interface Reading {
  readonly address: IpAddress | undefined;
  readonly prefixLength: number | undefined;
}

function read(text: string): Reading {
  const slash = text.indexOf('/');
  const addressText = slash < 0 ? text : text.slice(0, slash);
  const address = addressText.includes('%') ? undefined : IpAddress.parse(addressText);
  const prefixText = slash < 0 ? undefined : text.slice(slash + 1);
  return { address, prefixLength: address && readPrefixLength(address, addressText, prefixText) };
}

/** Parses the prefix length for the address's family; returns `undefined` when it is invalid. */
function readPrefixLength(address: IpAddress, addressText: string, text: string | undefined): number | undefined {
  const bits = address.family === 4 ? 32 : 128;
  if (text === undefined) return bits;
  if (!PREFIX_LENGTH.test(text)) return undefined;
  const isMapped = address.family === 4 && addressText.includes(':');
  const prefixLength = isMapped ? Number(text) - MAPPED_BITS : Number(text);
  return prefixLength >= 0 && prefixLength <= bits ? prefixLength : undefined;
}

const DEMAND = "a network in CIDR notation, such as '10.0.0.0/8' or '2001:db8::/32'";

function notACidr(value: string, option: string): SluiceError {
  const remedy = 'Write an address, a slash and the length of its prefix.';
  return complaint('ERR_CIDR', { option, demand: DEMAND, value, remedy });
}

function badPrefixLength(value: string, option: string): SluiceError {
  const remedy = 'The prefix length is 0–32 for IPv4, 0–128 for IPv6 and 96–128 for IPv4-mapped IPv6.';
  return complaint('ERR_CIDR', { option, demand: DEMAND, value, remedy });
}

function hostBits(value: string, option: string, network: string, address: IpAddress): SluiceError {
  const remedy = `It has host bits set. Write '${network}' for the network, or '${address.text}' for the one address.`;
  return complaint('ERR_CIDR', { option, demand: DEMAND, value, remedy });
}
