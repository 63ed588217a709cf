import { complaint, shownText, type SluiceError } from '../checks/errors.ts';
import type { IdFormat } from './id-format.ts';
import { IpAddress } from './ip-address.ts';
import { wholeNumber } from '../checks/options.ts';

/**
 * The id format `ipAddress`: an IPv4 address in dotted notation, or an IPv6 address as in RFC 5952. An IPv4-mapped IPv6
 * address becomes the IPv4 address, and a zone is removed.
 */
export const ipAddressFormat: IdFormat = {
  name: 'ipAddress',
  prefixLengths: { ipv4: 32, ipv6: 128 },

  canonical(text: string): string {
    const address = IpAddress.parse(text);
    if (address === undefined) throw notAnAddress(text);
    return address.text;
  },
};

function notAnAddress(value: string): SluiceError {
  const meant = meantAddress(value);
  const alone = "an address alone, without host name, port, brackets or mask: '203.0.113.7'";
  const remedy = `Write ${meant === undefined ? alone : `'${meant.text}'`}.`;
  return complaint('ERR_ID', { option: 'id', demand: DEMAND, value, remedy, status: 400 });
}

/** Returns the address that was probably meant: a text with a port, with brackets or with spaces around it. */
function meantAddress(text: string): IpAddress | undefined {
  // The longest address with a zone, a port and some spaces.
  if (text.length > 100) return undefined;
  const [, inBrackets, dotted] = /^(?:\[(.*)\]|([\d.]+))(?::\d+)?$/.exec(text.trim()) ?? [];
  return IpAddress.parse(inBrackets ?? dotted ?? text.trim());
}

const DEMAND = "an IPv4 or IPv6 address, such as '203.0.113.7' or '2001:db8::1'";

/**
 * The id format `ipv6RangeCIDR`: an IPv6 network with a fixed prefix length, such as `2001:db8:7::/48`, without host
 * bits. IPv4 addresses are not valid.
 *
 * @param prefixLength - The prefix length of all ids, 1 to 128. Default: 48, which one site usually gets.
 * @throws {SluiceError} `ERR_OPTION` for any other prefix length.
 */
export function ipv6RangeFormat(prefixLength: number = 48): IdFormat {
  checkIpv6PrefixLength(prefixLength);
  return {
    name: 'ipv6RangeCIDR',
    canonical: (text) => canonicalIpv6Range(text, prefixLength),
    prefixLengths: { ipv6: prefixLength },
  };
}

/** Validates the prefix length of IPv6 ranges. 0 is not valid, because all clients would share a bucket. */
function checkIpv6PrefixLength(prefixLength: number): void {
  wholeNumber('ipv6PrefixLength', prefixLength, {
    min: 1,
    max: 128,
    remedy: '48 is what one site gets, 56 or 64 what one household gets.',
  });
}

/**
 * Returns the canonical spelling of an IPv6 network with a fixed prefix length.
 *
 * @throws {SluiceError} `ERR_ID` for any other text, with the network that was probably meant.
 */
function canonicalIpv6Range(text: string, prefixLength: number): string {
  const slash = text.indexOf('/');
  const address = IpAddress.parse(slash < 0 ? text : text.slice(0, slash));
  if (address === undefined) throw notARange(text, prefixLength, rangeRemedy(text, prefixLength));
  if (address.family === 4) {
    throw notARange(text, prefixLength, 'IPv4 addresses, IPv4-mapped ones included, have no IPv6 range.');
  }
  const range = address.network(prefixLength);
  if (text.includes('%')) throw notARange(text, prefixLength, `Write it without its zone: '${range}'.`);
  const mask = slash < 0 ? '' : text.slice(slash);
  if (mask !== `/${prefixLength}`) {
    const fault = mask === '' ? 'has no mask' : `has the mask ${shownText(mask, 16)}, not /${prefixLength}`;
    throw notARange(text, prefixLength, `It ${fault}. Write '${range}'.`);
  }
  if (range !== address.text + mask) throw notARange(text, prefixLength, `It has host bits set. Write '${range}'.`);
  return range;
}

function rangeRemedy(text: string, prefixLength: number): string {
  const meant = meantAddress(text);
  if (meant?.family === 6) return `Write '${meant.network(prefixLength)}'.`;
  return `Write an IPv6 network such as '${exampleRange(prefixLength)}'.`;
}

/** An IPv6 network of a size, for messages. */
function exampleRange(prefixLength: number): string {
  return IpAddress.parse('2001:db8:7::')!.network(prefixLength);
}

function notARange(value: string, prefixLength: number, remedy: string): SluiceError {
  const demand = `an IPv6 network with the mask /${prefixLength}`;
  return complaint('ERR_ID', { option: 'id', demand, value, remedy, status: 400 });
}

export interface ClientNetworkFormatOptions {
  /** The prefix length of an IPv6 client's network, 1 to 128. Default: 48. */
  readonly ipv6PrefixLength?: number;
}

/**
 * The id format `clientNetwork`: an IPv4 address, or the IPv6 network of one client, such as `2001:db8:7::/48`. A
 * client with a whole /48 then has one bucket instead of 2^80.
 *
 * @throws {SluiceError} `ERR_OPTION` for an `ipv6PrefixLength` that is not a whole number from 1 to 128.
 */
export function clientNetworkFormat({ ipv6PrefixLength = 48 }: ClientNetworkFormatOptions = {}): IdFormat {
  checkIpv6PrefixLength(ipv6PrefixLength);
  return {
    name: 'clientNetwork',
    canonical: (text) => canonicalClientNetwork(text, ipv6PrefixLength),
    prefixLengths: { ipv4: 32, ipv6: ipv6PrefixLength },
  };
}

function canonicalClientNetwork(text: string, ipv6PrefixLength: number): string {
  const address = IpAddress.parse(text);
  if (address?.family === 4) return address.text;
  const meant = meantAddress(text);
  if (text.includes(':') && meant?.family !== 4) return canonicalIpv6Range(text, ipv6PrefixLength);
  const either = `an IPv4 address such as '203.0.113.7', or an IPv6 network such as '${exampleRange(ipv6PrefixLength)}'`;
  const demand = `an IPv4 address, or an IPv6 network with the mask /${ipv6PrefixLength}`;
  const remedy = `Write ${meant === undefined ? either : `'${meant.text}'`}.`;
  throw complaint('ERR_ID', { option: 'id', demand, value: text, remedy, status: 400 });
}
