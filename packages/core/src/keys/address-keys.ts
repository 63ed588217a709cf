import { clientNetworkFormat, ipAddressFormat, ipv6RangeFormat } from '../ids/address-formats.ts';
import { checkOptions, type Hints } from '../checks/options.ts';
import { keyOf, type Key } from './key.ts';

const PREFIX_HINTS: Hints = { ipv6PrefixLength: '`ipv6PrefixLength` is `prefixLength` here.' };
const NETWORK_HINTS: Hints = {
  prefixLength: '`prefixLength` is `ipv6PrefixLength` here.',
  ipv6Subnet: '`ipv6Subnet` is `ipv6PrefixLength` here.',
};

/**
 * Limits single addresses: `203.0.113.7`, `2001:db8::1`. An IPv6 client can use many addresses; see {@link
 * clientNetwork}.
 */
export function ipAddress(): Key {
  return keyOf(ipAddressFormat, (source) => source.clientAddress.text);
}

/**
 * Limits ranges of IPv6 addresses: `2001:db8:7::/48`. It does not apply to IPv4 clients.
 *
 * @param options - `prefixLength`: that of the range, 1 to 128. Default: 48, which one customer commonly gets.
 * @throws {SluiceError} `ERR_OPTION` or `ERR_UNKNOWN_OPTION` for wrong options.
 */
export function ipv6RangeCIDR(options: { readonly prefixLength?: number | undefined } = {}): Key {
  checkOptions('ipv6RangeCIDR', options, ['prefixLength'], PREFIX_HINTS);
  const { prefixLength = 48 } = options;
  const format = ipv6RangeFormat(prefixLength);
  return keyOf(format, ({ clientAddress }) =>
    clientAddress.family === 6 ? clientAddress.network(prefixLength) : null,
  );
}

/** The options of {@link clientNetwork}. */
export interface ClientNetworkOptions {
  /** The prefix length of an IPv6 client's network, 1 to 128. Default: 48. */
  readonly ipv6PrefixLength?: number | undefined;
}

/**
 * Limits clients by address: an IPv4 address, or an IPv6 /48, which is what one client commonly has. Where a
 * provider gives each customer a /56 or a /64, 256 or 65,536 customers share a /48, unless you use
 * `clientNetwork({ ipv6PrefixLength: 56 })` or `64`.
 *
 * @throws {SluiceError} `ERR_OPTION` or `ERR_UNKNOWN_OPTION` for wrong options.
 */
export function clientNetwork(options: ClientNetworkOptions = {}): Key {
  checkOptions('clientNetwork', options, ['ipv6PrefixLength'], NETWORK_HINTS);
  const { ipv6PrefixLength = 48 } = options;
  const format = clientNetworkFormat({ ipv6PrefixLength });
  return keyOf(format, ({ clientAddress }) =>
    clientAddress.family === 4 ? clientAddress.text : clientAddress.network(ipv6PrefixLength),
  );
}
