import { checkOptions } from '@sluice/core/limits';
import { getDomain } from 'tldts';
import { checkedUnderscores, domainName, type DomainNameOptions } from './domain-name.ts';

const RULES = { allowPrivateDomains: true, extractHostname: false, validateHostname: false, detectIp: false } as const;

/**
 * The domain that a name was registered under: one label more than its public suffix (eTLD+1), by the Public Suffix
 * List with its private part. `www.example.co.uk` gives `example.co.uk`, `a.b.github.io` gives `b.github.io`; a suffix
 * itself (`co.uk`, `github.io`) stays as it is. A suffix that is not on the list is the last label.
 *
 * @throws {SluiceError} `ERR_ID` when the text is no domain name.
 * @see https://publicsuffix.org/list/
 */
export function registrableDomain(text: string, options: DomainNameOptions = {}): string {
  checkOptions('registrableDomain', options, ['underscores']);
  return registrableOf(domainName(text, checkedUnderscores('registrableDomain', options)));
}

/** Gives the registrable domain of a name in its one spelling. */
export function registrableOf(name: string): string {
  return getDomain(name, RULES) ?? name;
}
