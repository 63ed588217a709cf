import { SluiceError } from '@sluice/core';
import { bucketKey, type StoreBucket } from '@sluice/core/store';

/**
 * Returns the key of a bucket in the table: `<limit>:<id>`, with everything escaped that is not plain ASCII. After an `@`
 * follows the calendar of a bucket with a period, or `slots` for a bucket of slots, which is not the name of any calendar.
 *
 * @throws {SluiceError} `ERR_ID` if the id is not well-formed text.
 */
export function keyOf({ limit, id, slots, calendar = slots && 'slots' }: StoreBucket): string {
  try {
    return bucketKey(limit, id, calendar);
  } catch (cause) {
    // It may come from a client, so it has status 400 and does not count as a failure of the store.
    const message = `An id of limit "${limit}" contains a lone surrogate, which is not valid text. Make its id format reject such ids.`;
    throw new SluiceError('ERR_ID', message, { status: 400, cause });
  }
}
