import { complaint } from '../checks/errors.ts';
import type { IdFormat } from '../ids/id-format.ts';
import { keyOf, type Key } from './key.ts';

/** The id of the only bucket of {@link everyone}. */
export const EVERYONE = 'everyone';

const everyoneFormat: IdFormat = {
  name: 'everyone',
  canonical(text) {
    if (text === EVERYONE) return EVERYONE;
    throw complaint('ERR_ID', {
      option: 'id',
      demand: `'${EVERYONE}', the only id of the key everyone()`,
      value: text,
      remedy: `Write id: '${EVERYONE}'. For a bucket for each client use another key, such as accountId().`,
      status: 400,
    });
  },
};

/**
 * Returns the key of a limit for all requests together. There is one bucket, with the id `everyone`. Use it for a pool
 * from which other limits borrow, or for the capacity of a backend.
 */
export function everyone(): Key {
  return keyOf(everyoneFormat, () => EVERYONE);
}

/** Whether a key was made by {@link everyone}. */
export function isEveryone({ format }: Key<never>): boolean {
  return format.name === everyoneFormat.name;
}
