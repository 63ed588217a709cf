import { complaint } from '../checks/errors.ts';
import type { IdFormat } from './id-format.ts';
import { IpAddress } from './ip-address.ts';
import { meantAddress } from './ip-address-format.ts';
import { canonicalIpv6Range, checkIpv6PrefixLength, exampleRange } from './ipv6-range-format.ts';

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
