import type { AddressRule } from '../keys/identities.ts';
import type { KnownLog } from '../reading/merged-logs.ts';

/** Returns what is to be known about the addresses of a log that a proxy or a server behind one has written. */
export function notesOnAddresses(
  logs: readonly KnownLog[],
  { trustedProxies, addressHeader = 'x-forwarded-for' }: AddressRule,
): string[] {
  const isForwarded = logs.some(({ detected }) => detected.isForwarded);
  if (trustedProxies === undefined && isForwarded)
    return ['The log has X-Forwarded-For, which is not read without --trust: all clients of a proxy count as one.'];
  if (trustedProxies !== undefined && !isForwarded && addressHeader.toLowerCase() === 'x-forwarded-for')
    return ['The first lines have no X-Forwarded-For, so --trust may have no effect.'];
  return [];
}
