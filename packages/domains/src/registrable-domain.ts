import { checkOptions, complaint } from '@sluice/core/kit';
import { parse } from 'tldts';
import { checkedUnderscores, domainName, type DomainNameOptions } from './domain-name.ts';

const RULES = { allowPrivateDomains: true, extractHostname: false, validateHostname: false, detectIp: false } as const;

/**
 * The domain that a name was registered under: one label more than its public suffix (eTLD+1), by the Public Suffix
 * List with its private part. `www.example.co.uk` gives `example.co.uk`, `a.b.github.io` gives `b.github.io`; a suffix
 * itself (`co.uk`, `github.io`) stays as it is. Of a name whose suffix is not on the list, the last label is the suffix:
 * `a.b.internal` gives `b.internal`. A single label that is not on the list (`localhost`, `examplecom`) has no registrable
 * domain.
 *
 * @throws {SluiceError} `ERR_ID` when the text is not a domain name, or has no registrable domain.
 * @see https://publicsuffix.org/list/
 */
export function registrableDomain(text: string, options: DomainNameOptions = {}): string {
  checkOptions('registrableDomain', options, ['underscores']);
  return registrableOf(domainName(text, checkedUnderscores('registrableDomain', options)));
}

/**
 * Gives the registrable domain of a name in its one spelling.
 *
 * @throws {SluiceError} `ERR_ID` when the name has none.
 */
export function registrableOf(name: string): string {
  const { domain, isIcann, isPrivate } = parse(name, RULES);
  if (domain !== null) return domain;
  // Without a domain it is a suffix, and one that is not on the list is a single label.
  if (isIcann === true || isPrivate === true) return name;
  throw complaint('ERR_ID', {
    option: 'id',
    demand: 'a name that has a registrable domain',
    value: name,
    remedy: "A single label has none unless it is on the Public Suffix List. Write a name such as 'example.com'.",
    status: 400,
  });
}
