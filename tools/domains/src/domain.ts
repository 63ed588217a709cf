import { clientNetwork, IpAddress, by, type Awaitable, type IdFormat, type Key, type SluiceError } from '@sluice/core';
import { checkBoolean, checkOptions, complaint, keyOf } from '@sluice/core/kit';
import { checkedUnderscores, domainName, type DomainNameOptions } from './domain-name.ts';
import { registrableOf } from './registrable-domain.ts';

/** The options of {@link domain}. */
export interface DomainOptions extends DomainNameOptions {
  /** Whether IP addresses are accepted: an IPv4 address is an id, and of IPv6 the /64 is. Default: false. */
  readonly addresses?: boolean | undefined;
}

/** The ids of addresses. */
const NETWORK = clientNetwork({ ipv6PrefixLength: 64 }).format;

/**
 * Creates a key that limits each registered domain together with all names below it, by the Public Suffix List.
 * Requests for `www.example.com` and `example.com` share the bucket of `example.com`.
 *
 *     domain((req: Request) => req.body.name)
 *
 * An id that you write yourself, for an override or for `limiter.spend`, must be a registered domain or a public
 * suffix. `www.example.com` is an error there, which names the right id, because the id applies to all of
 * `example.com`.
 *
 * @param from - Returns the domain name of a request, or a promise of it; `null` if the limit does not apply to the
 * request. Leave it out if the limit is only used by calls such as `limiter.spend`, with {@link registrableDomain}.
 * @throws {SluiceError} `ERR_UNKNOWN_OPTION` or `ERR_OPTION` if an option is wrong. For a request, the id is rejected
 * with `ERR_ID` if it is not a domain name, or if it has no registered domain.
 */
export function domain<Request = unknown>(
  from?: (request: Request) => Awaitable<string | number | bigint | null>,
  options: DomainOptions = {},
): Key<Request> {
  checkOptions('domain', options, ['underscores', 'addresses']);
  const { addresses = false } = options;
  checkBoolean('domain.addresses', addresses);
  const underscores = checkedUnderscores('domain', options);
  const ofName = (text: string): string => registrableOf(domainName(text, underscores));
  const canonical = (text: string): string => (addresses ? networkOf(text) : undefined) ?? ofName(text);
  const { idOf } = by(from, { format: { name: 'domain', canonical } });
  const written = domainFormat(underscores);
  return keyOf(
    addresses ? { ...written, canonical: (text) => writtenNetwork(text) ?? written.canonical(text) } : written,
    idOf,
  );
}

function networkOf(text: string): string | undefined {
  const address = IpAddress.parse(text);
  return address?.family === 6 ? address.network(64) : address?.text;
}

/** Returns the id of a written address or network, or undefined for a name. Of a /64 its lowest address may be written. */
function writtenNetwork(text: string): string | undefined {
  const network = networkOf(text);
  if (network === undefined) return text.includes('/') ? NETWORK.canonical(text) : undefined;
  const address = IpAddress.parse(text)!;
  if (address.family === 4 || network === `${address.text}/64`) return network;
  throw notExact({
    demand: 'an IPv4 address, an IPv6 network with the mask /64, or the lowest address in it',
    value: text,
    remedy: `Write '${network}', the network that it belongs to.`,
  });
}

function domainFormat(underscores: boolean): IdFormat {
  return {
    name: 'domain',
    canonical(text: string): string {
      const name = domainName(text, underscores);
      const registrable = registrableOf(name);
      if (registrable === name) return name;
      throw notExact({
        demand: 'a registered domain: one label more than its public suffix, or the suffix itself',
        value: text,
        remedy: `Write '${registrable}', the registered domain that it belongs to.`,
      });
    },
  };
}

function notExact(given: { demand: string; value: string; remedy: string }): SluiceError {
  return complaint('ERR_ID', { option: 'id', ...given, status: 400 });
}
