import { createHash } from 'node:crypto';
import { IpAddress, by, type Awaitable, type IdFormat, type Key, type SluiceError } from '@sluice/core';
import { checkBoolean, checkOptions, complaint, keyOf, wholeNumber } from '@sluice/core/kit';
import { checkedUnderscores, domainName, MAX_TEXT_LENGTH, type DomainNameOptions } from './domain-name.ts';

/** The options of {@link fqdnSet}. */
export interface FqdnSetOptions extends DomainNameOptions {
  /** The maximum number of names in a list, duplicates included: a whole number from 1 to 1,000. Default: 100. */
  readonly maxNames?: number | undefined;
  /** Whether IP addresses are accepted beside names, as in certificates for addresses. Default: false. */
  readonly addresses?: boolean | undefined;
  /** Whether names such as `*.example.com` are accepted, which are other names than `example.com`. Default: false. */
  readonly wildcards?: boolean | undefined;
}

const WILDCARD = '*.';
/** The highest `maxNames`. */
const MOST_NAMES = 1000;
// A label has at most 63 characters, so a list of names never looks like a hash.
const HASH = /^[0-9A-Fa-f]{64}$/;

/**
 * Creates a key that limits each exact set of domain names. Order, case and repetition of the names do not matter. The
 * id is the SHA-256 in hex of the sorted, unique names, joined by commas, as in Let's Encrypt's Boulder. Addresses follow
 * the names.
 *
 *     fqdnSet((req: Request) => req.body.names.join(','))
 *
 * An id that you write yourself, for an override or for `limiter.spend`, is such a list or the hash, which is the `id`
 * of a decision. A hash in a request is rejected, so that a client can't choose the set of another.
 *
 * @param from - Returns the comma-separated domain names of a request, or a promise of them; `null` if the limit does
 * not apply to the request. Leave it out if the limit is only used by calls such as `limiter.spend`.
 * @throws {SluiceError} `ERR_UNKNOWN_OPTION` or `ERR_OPTION` if an option is wrong. For a request, the id is rejected
 * with `ERR_ID` if the list is empty or too long, or if one of its names is not a domain name.
 */
export function fqdnSet<Request = unknown>(
  from?: (request: Request) => Awaitable<string | number | bigint | null>,
  options: FqdnSetOptions = {},
): Key<Request> {
  checkOptions('fqdnSet', options, ['underscores', 'maxNames', 'addresses', 'wildcards']);
  const terms = termsOf(options);
  const listed: IdFormat = { name: 'fqdnSet', canonical: (text) => hashOf(namesOf(text, terms)) };
  const written: IdFormat = {
    name: 'fqdnSet',
    canonical: (text) => (HASH.test(text) ? text.toLowerCase() : listed.canonical(text)),
  };
  return keyOf(written, by(from, { format: listed }).idOf);
}

type Terms = Required<{ readonly [K in keyof FqdnSetOptions]: NonNullable<FqdnSetOptions[K]> }>;

function termsOf(options: FqdnSetOptions): Terms {
  const { maxNames = 100, addresses = false, wildcards = false } = options;
  checkBoolean('fqdnSet.addresses', addresses);
  checkBoolean('fqdnSet.wildcards', wildcards);
  return {
    underscores: checkedUnderscores('fqdnSet', options),
    maxNames: wholeNumber('fqdnSet.maxNames', maxNames, { min: 1, max: MOST_NAMES }),
    addresses,
    wildcards,
  };
}

/** The names of a set, and its addresses. */
interface Members {
  readonly names: Set<string>;
  readonly addresses: Set<string>;
}

function namesOf(text: string, terms: Terms): Members {
  const { maxNames } = terms;
  // A text that is too long is not split at all, and a text of many commas only up to the maximum.
  if (text.length > maxNames * (MAX_TEXT_LENGTH + 1)) {
    throw notASet(text, maxNames, "Write only the names, for example 'example.com,example.org'.");
  }
  const names = text.split(',', maxNames + 1);
  if (names.length > maxNames) {
    const more = `To accept more names, up to ${MOST_NAMES}, use maxNames.`;
    throw notASet(text, maxNames, maxNames < MOST_NAMES ? more : 'Split them into several sets.');
  }
  const members: Members = { names: new Set(), addresses: new Set() };
  for (const [index, name] of names.entries()) {
    const address = terms.addresses ? IpAddress.parse(name) : undefined;
    if (address === undefined) members.names.add(nameOf(name, terms, `id (name ${index + 1})`));
    else members.addresses.add(address.text);
  }
  return members;
}

function nameOf(text: string, { underscores, wildcards }: Terms, option: string): string {
  const isWildcard = wildcards && text.startsWith(WILDCARD);
  return isWildcard
    ? WILDCARD + domainName(text.slice(WILDCARD.length), underscores, option)
    : domainName(text, underscores, option);
}

function notASet(value: string, maxNames: number, remedy: string): SluiceError {
  const demand = `1 to ${maxNames} domain names with commas between them`;
  return complaint('ERR_ID', { option: 'id', demand, value, remedy, status: 400 });
}

function hashOf({ names, addresses }: Members): string {
  // All are ASCII, so that the order of UTF-16 code units is the order of bytes.
  const sorted = [...[...names].toSorted(), ...[...addresses].toSorted()];
  return createHash('sha256').update(sorted.join(',')).digest('hex');
}
