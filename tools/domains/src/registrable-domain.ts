import { checkOptions, complaint } from '@sluice/core/kit';
import { parse } from 'tldts';
import { checkedUnderscores, domainName, type DomainNameOptions } from './domain-name.ts';

const RULES = { allowPrivateDomains: true, extractHostname: false, validateHostname: false, detectIp: false } as const;

/**
 * Returns the domain under which a name was registered: its public suffix and one more label (eTLD+1), by the Public
 * Suffix List including its private part.
 *
 * - `www.example.co.uk` gives `example.co.uk`, and `a.b.github.io` gives `b.github.io`.
 * - A public suffix (`co.uk`, `github.io`) gives itself.
 * - If the list has no suffix of the name, the last label counts as the suffix: `a.b.internal` gives `b.internal`.
 * - A single label that is not on the list (`localhost`, `examplecom`) has no registrable domain.
 *
 * @returns The registrable domain in canonical form: lower-case A-labels without a final dot.
 * @throws {SluiceError} `ERR_ID` if the text is not a domain name or has no registrable domain; `ERR_UNKNOWN_OPTION` or
 * `ERR_OPTION` if an option is wrong.
 * @see https://publicsuffix.org/list/
 */
export function registrableDomain(text: string, options: DomainNameOptions = {}): string {
  checkOptions('registrableDomain', options, ['underscores']);
  return registrableOf(domainName(text, checkedUnderscores('registrableDomain', options)));
}

/**
 * Returns the registrable domain of a canonical name.
 *
 * @throws {SluiceError} `ERR_ID` if the name has no registrable domain.
 */
export function registrableOf(name: string): string {
  const { domain, isIcann, isPrivate } = parse(name, RULES);
  if (domain !== null) return domain;
  // tldts finds no domain in a public suffix, which is valid, and in a single label that is not on the list.
  if (isIcann === true || isPrivate === true) return name;
  throw complaint('ERR_ID', {
    option: 'id',
    demand: 'a name that has a registrable domain',
    value: name,
    remedy: "A single label has none unless it is on the Public Suffix List. Write a name such as 'example.com'.",
    status: 400,
  });
}
