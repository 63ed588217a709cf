import { complaint, shownText, type SluiceError } from '../checks/errors.ts';
import { wholeNumber } from '../checks/options.ts';
import type { IdFormat } from './id-format.ts';
import { meantAddress } from './ip-address-format.ts';
import { IpAddress } from './ip-address.ts';

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
export function checkIpv6PrefixLength(prefixLength: number): void {
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
export function canonicalIpv6Range(text: string, prefixLength: number): string {
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
export function exampleRange(prefixLength: number): string {
  return IpAddress.parse('2001:db8:7::')!.network(prefixLength);
}

function notARange(value: string, prefixLength: number, remedy: string): SluiceError {
  const demand = `an IPv6 network with the mask /${prefixLength}`;
  return complaint('ERR_ID', { option: 'id', demand, value, remedy, status: 400 });
}
