import { complaint, type SluiceError } from '../checks/errors.ts';
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
export function meantAddress(text: string): IpAddress | undefined {
  // The longest address with a zone, a port and some spaces.
  if (text.length > 100) return undefined;
  const [, inBrackets, dotted] = /^(?:\[(.*)\]|([\d.]+))(?::\d+)?$/.exec(text.trim()) ?? [];
  return IpAddress.parse(inBrackets ?? dotted ?? text.trim());
}

const DEMAND = "an IPv4 or IPv6 address, such as '203.0.113.7' or '2001:db8::1'";
