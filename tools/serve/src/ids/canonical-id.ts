// The room ids: canonical ids from what proxies say.
import { createHash } from 'node:crypto';
import { clientNetwork, ipAddress, IpAddress, ipv6RangeCIDR, type IdFormat, type Key } from '@sluice/core';

/** The formats whose ids are made of an address. */
const ADDRESS_KEYS: ReadonlyMap<string, Key> = new Map(
  [ipAddress(), clientNetwork(), ipv6RangeCIDR()].map((key) => [key.format.name, key]),
);
/** The formats that take any text. */
const TEXT_FORMATS: ReadonlySet<string> = new Set(['by', 'accountId']);
const MAX_TEXT = 256;

/**
 * Returns the canonical id for what a proxy says. An address becomes the network of the format. Text that is too long for
 * its format becomes its SHA-256: a header of a client may have any length, and must not fail for that.
 *
 * @returns null if the limit does not apply: a limit of IPv6 networks to an IPv4 address.
 * @throws {SluiceError} `ERR_ID` if the text is not valid for the format.
 */
export function canonicalId(format: IdFormat, text: string): string | null {
  const key = ADDRESS_KEYS.get(format.name);
  if (key !== undefined) {
    const clientAddress = IpAddress.parse(text);
    if (clientAddress !== undefined) return key.idOf!({ request: undefined, clientAddress }, '') as string | null;
  }
  const isLong = text.length > MAX_TEXT && TEXT_FORMATS.has(format.name);
  return format.canonical(isLong ? `sha256:${createHash('sha256').update(text).digest('hex')}` : text);
}

/** Returns the canonical id of an address. null if the limit does not apply to it. */
export function idOfAddress(format: IdFormat, clientAddress: IpAddress): string | null {
  const key = ADDRESS_KEYS.get(format.name);
  if (key === undefined) return format.canonical(clientAddress.text);
  return key.idOf!({ request: undefined, clientAddress }, '') as string | null;
}
