import { complaint } from '../checks/errors.ts';
import type { IdFormat } from './id-format.ts';
import { IpAddress } from './ip-address.ts';

/**
 * The id format `ipAddress`: an IPv4 or IPv6 address. Its id is dotted IPv4 or RFC 5952 IPv6; IPv4-mapped IPv6 is
 * IPv4, and a zone is cut.
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
