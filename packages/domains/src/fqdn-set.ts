import { createHash } from 'node:crypto';
import { keyFrom, type Awaitable, type IdFormat, type IdValue, type Key } from '@sluice/core';
import { checkOptions, complaint, keyOf, wholeNumber } from '@sluice/core/kit';
import { checkedUnderscores, domainName, MAX_TEXT_LENGTH, type DomainNameOptions } from './domain-name.ts';

/** The options of {@link fqdnSet}. */
export interface FqdnSetOptions extends DomainNameOptions {
  /** The most names that a set may be listed with, 1 to 1,000. Default: 100. */
  readonly maxNames?: number;
}

// No label is this long, so no list of names looks like it.
const HASH = /^[0-9A-Fa-f]{64}$/;

/**
 * One id for each exact set of domain names, in whatever order, case and repetition they are listed: the SHA-256 in
 * hex of the sorted, unique names, joined by commas, as Let's Encrypt's Boulder has it.
 *
 *     fqdnSet((req: Request) => req.body.names.join(','))
 *
 * An id that is written (of an override, or given to `limiter.spend`) is such a list too, or the hash that a decision
 * told. A request is never taken at its word for a hash.
 *
 * @param from - Gives comma-separated domain names, or a promise of them; `null` for a request that the limit says
 * nothing about. Left out: the limit is used through `limiter.spend` alone.
 * @throws {SluiceError} `ERR_UNKNOWN_OPTION` or `ERR_OPTION` for options that are none.
 */
export function fqdnSet<Request = unknown>(
  from?: (request: Request) => Awaitable<IdValue>,
  options: FqdnSetOptions = {},
): Key<Request> {
  checkOptions('fqdnSet', options, ['underscores', 'maxNames']);
  const underscores = checkedUnderscores('fqdnSet', options);
  const maxNames = wholeNumber('fqdnSet.maxNames', options.maxNames ?? 100, { min: 1, max: 1000 });
  const listed: IdFormat = { name: 'fqdnSet', canonical: (text) => hashOf(namesOf(text, maxNames, underscores)) };
  const written: IdFormat = {
    name: 'fqdnSet',
    canonical: (text) => (HASH.test(text) ? text.toLowerCase() : listed.canonical(text)),
  };
  return keyOf(written, keyFrom(listed, from).idOf);
}

function namesOf(text: string, maxNames: number, underscores: boolean): Set<string> {
  // Neither a long text nor one of commas alone is ever taken apart.
  const names = text.length > maxNames * (MAX_TEXT_LENGTH + 1) ? [] : text.split(',', maxNames + 1);
  if (names.length === 0 || names.length > maxNames) {
    const demand = `1 to ${maxNames} domain names with commas between them`;
    throw complaint('ERR_ID', { option: 'id', demand, value: text, status: 400 });
  }
  return new Set(names.map((name, index) => domainName(name, underscores, `id (name ${index + 1})`)));
}

function hashOf(names: Set<string>): string {
  // Names are ASCII: in order of UTF-16 code units is in order of bytes.
  return createHash('sha256')
    .update([...names].toSorted().join(','))
    .digest('hex');
}
