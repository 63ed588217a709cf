import { createHash } from 'node:crypto';
import { by, type Key } from '@sluice/core';
import { complaint } from '@sluice/core/kit';

/** The key of all limits here. The libraries have made the id, so there is nothing to check in it. */
export const ANY_TEXT: Key = by(undefined, { format: { name: 'key', canonical: (text) => text } });

/** The id of requests without a key. No other key has it, because one that begins so is hashed. */
export const NO_KEY = '~';

const MAX_LENGTH = 256;

/**
 * Gives the id for a key of a library. A long key, which a client may have written, is hashed: it then takes no more room
 * in keys and events than any other.
 *
 * @throws {SluiceError} `ERR_KEY` for a value that has no text of its own, such as a promise: all of its clients would
 * share one bucket.
 */
export function idOf(key: unknown): string {
  if (key === undefined || key === null || key === '') return NO_KEY;
  if (typeof key === 'string') return key.length > MAX_LENGTH || key.startsWith(NO_KEY) ? hashed(key) : wellFormed(key);
  if (typeof key === 'number' || typeof key === 'bigint' || typeof key === 'boolean') return String(key);
  const remedy = 'Return a string, such as the id of the user or the address of the client.';
  throw complaint('ERR_KEY', { option: 'key', demand: 'a string or a number', value: key, remedy });
}

function wellFormed(key: string): string {
  return key.isWellFormed() ? key : hashed(key);
}

/** As UTF-16, in which lone surrogates differ from each other. */
function hashed(key: string): string {
  return NO_KEY + createHash('sha256').update(key, 'utf16le').digest('hex');
}
