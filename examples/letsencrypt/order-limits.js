import { loadLimits, watchLimits } from '@sluice/config';
import { accountId, createLimiter, ipAddress, ipv6RangeCIDR } from '@sluice/core';
import { domain, fqdnSet, registrableDomain } from '@sluice/domains';

/** @import { IpAddress } from '@sluice/core' */

// Names in code, numbers in files. An order gives its ids itself, so no key needs a function of the request.
const loaded = await loadLimits({
  defaults: new URL('limits.yaml', import.meta.url),
  overrides: new URL('overrides.yaml', import.meta.url),
  keys: {
    NewOrdersPerIPAddress: ipAddress(),
    NewOrdersPerIPv6Range: ipv6RangeCIDR(),
    NewOrdersPerAccount: accountId(undefined, { decimal: true }),
    CertificatesPerDomain: domain(),
    CertificatesPerFQDNSet: fqdnSet(),
  },
});

export const limiter = createLimiter({ ...loaded });

/** Who changes a number or grants an exception edits a file; the server goes on. */
export const watch = watchLimits(limiter, loaded);

/**
 * All buckets that an order spends from. The names of one order may be of several registered domains: each has its
 * own bucket of one limit.
 *
 * @param {{ address: IpAddress, account: string, names: readonly string[] }} order
 */
export function bucketsOf({ address, account, names }) {
  const domains = new Set(names.map((name) => registrableDomain(name)));
  return [
    { limit: 'NewOrdersPerIPAddress', id: address.text },
    // IPv4 addresses have no /48.
    ...(address.family === 6 ? [{ limit: 'NewOrdersPerIPv6Range', id: address.network(48) }] : []),
    { limit: 'NewOrdersPerAccount', id: account },
    ...[...domains].map((id) => ({ limit: 'CertificatesPerDomain', id })),
    { limit: 'CertificatesPerFQDNSet', id: names.join(',') },
  ];
}
