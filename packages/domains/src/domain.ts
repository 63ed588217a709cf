import { keyFrom, type Awaitable, type IdFormat, type IdValue, type Key } from '@sluice/core';
import { checkOptions, complaint, keyOf } from '@sluice/core/kit';
import { checkedUnderscores, domainName, type DomainNameOptions } from './domain-name.ts';
import { registrableOf } from './registrable-domain.ts';

/**
 * One id for a registered domain and all names below it, by the Public Suffix List: requests for `www.example.com` and
 * `example.com` have one bucket, `example.com`.
 *
 *     domain((req: Request) => req.body.name)
 *
 * An id that is written (of an override, or given to `limiter.spend`) must be that domain, or a public suffix:
 * `www.example.com` there is an error that says what to write, since it would speak for more than it says.
 *
 * @param from - Gives a domain name, or a promise of one; `null` for a request that the limit says nothing about.
 * Left out: the limit is used through `limiter.spend` alone, with {@link registrableDomain}.
 * @throws {SluiceError} `ERR_UNKNOWN_OPTION` or `ERR_OPTION` for options that are none.
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
