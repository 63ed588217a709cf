/**
 * Id formats for domain names and sets of names, by the Public Suffix List.
 *
 * @module
 */
export { domain } from './domain.ts';
export type { DomainNameOptions } from './domain-name.ts';
export { fqdnSet, type FqdnSetOptions } from './fqdn-set.ts';
export { registrableDomain } from './registrable-domain.ts';
