import { complaint } from '../checks/errors.ts';
import type { IdFormat } from './id-format.ts';
import { IpAddress } from './ip-address.ts';

/**
 * The id format `ipAddress`: an IPv4 address in dotted notation, or an IPv6 address as in RFC 5952. An IPv4-mapped IPv6
 * address becomes the IPv4 address, and a zone is removed.
 */
export const ipAddressFormat: IdFormat = {
  name: 'ipAddress',
  prefixLengths: { ipv4: 32, ipv6: 128 },

  canonical(text: string): string {
    const address = IpAddress.parse(text);
    if (address === undefined) throw complaint('ERR_ID', { option: 'id', demand: DEMAND, value: text, status: 400 });
    return address.text;
  },
};

const DEMAND = "an IPv4 or IPv6 address, such as '203.0.113.7' or '2001:db8::1'";
