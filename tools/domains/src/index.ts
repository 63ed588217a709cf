/**
 * Keys for limits by domain: {@link domain} limits each registered domain with all names below it, by the Public Suffix
 * List; {@link fqdnSet} limits each exact set of domain names. {@link registrableDomain} finds the registered domain of
 * a name, for calls such as `limiter.spend`.
 *
 * @module
 */
export { domain, type DomainOptions } from './domain.ts';
export type { DomainNameOptions } from './domain-name.ts';
export { fqdnSet, type FqdnSetOptions } from './fqdn-set.ts';
export { registrableDomain } from './registrable-domain.ts';
