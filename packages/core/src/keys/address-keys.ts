import { clientNetworkFormat } from '../ids/client-network-format.ts';
import { ipAddressFormat } from '../ids/ip-address-format.ts';
import { ipv6RangeFormat } from '../ids/ipv6-range-format.ts';
import { checkOptions, type Hints } from '../checks/options.ts';
import { keyOf, type Key } from './key.ts';

const PREFIX_HINTS: Hints = { ipv6PrefixLength: '`ipv6PrefixLength` is `prefixLength` here.' };
const NETWORK_HINTS: Hints = {
  prefixLength: '`prefixLength` is `ipv6PrefixLength` here.',
  ipv6Subnet: '`ipv6Subnet` is `ipv6PrefixLength` here.',
};

/** One id for every address: `203.0.113.7`, `2001:db8::1`. */
export function ipAddress(): Key {
  return keyOf(ipAddressFormat, (source) => source.clientAddress.text);
}

/** The options of {@link ipv6RangeCIDR}. */
export interface Ipv6RangeOptions {
  /** Bits of the range, 1 to 128. Default: 48, what one customer commonly gets. */
  readonly prefixLength?: number;
}

/** The IPv6 range that an address lies in: `2001:db8:7::/48`. It says nothing about IPv4 clients. */
export function ipv6RangeCIDR(options: Ipv6RangeOptions = {}): Key {
  checkOptions('ipv6RangeCIDR', options, ['prefixLength'], PREFIX_HINTS);
  const { prefixLength = 48 } = options;
  const format = ipv6RangeFormat(prefixLength);
  return keyOf(format, ({ clientAddress }) =>
    clientAddress.family === 6 ? clientAddress.network(prefixLength) : null,
  );
}

/** The options of {@link clientNetwork}. */
export interface ClientNetworkOptions {
  /** Bits of an IPv6 client's network, 1 to 128. Default: 48. */
  readonly ipv6PrefixLength?: number;
}

/** What one client commonly holds: an IPv4 address, or an IPv6 /48. */
export function clientNetwork(options: ClientNetworkOptions = {}): Key {
  checkOptions('clientNetwork', options, ['ipv6PrefixLength'], NETWORK_HINTS);
  const { ipv6PrefixLength = 48 } = options;
  const format = clientNetworkFormat({ ipv6PrefixLength });
  return keyOf(format, ({ clientAddress }) =>
    clientAddress.family === 4 ? clientAddress.text : clientAddress.network(ipv6PrefixLength),
  );
}
