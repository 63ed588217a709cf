import { keyFrom, type Awaitable, type IdFormat, type IdValue, type Key } from '@sluice/core';
import { checkOptions, complaint, keyOf } from '@sluice/core/kit';
import { checkedUnderscores, domainName, type DomainNameOptions } from './domain-name.ts';
import { registrableOf } from './registrable-domain.ts';

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
  from?: (request: Request) => Awaitable<IdValue>,
  options: DomainNameOptions = {},
): Key<Request> {
  checkOptions('domain', options, ['underscores']);
  const underscores = checkedUnderscores('domain', options);
  const found = keyFrom(
    { name: 'domain', canonical: (text: string) => registrableOf(domainName(text, underscores)) },
    from,
  );
  return keyOf(domainFormat(underscores), found.idOf);
}

function domainFormat(underscores: boolean): IdFormat {
  return {
    name: 'domain',
    canonical(text: string): string {
      const name = domainName(text, underscores);
      const registrable = registrableOf(name);
      if (registrable === name) return name;
      throw complaint('ERR_ID', {
        option: 'id',
        demand: 'a registered domain: one label more than its public suffix, or the suffix itself',
        value: text,
        remedy: `Write '${registrable}', the registered domain that it belongs to.`,
        status: 400,
      });
    },
  };
}
