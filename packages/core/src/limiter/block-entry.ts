import { complaint } from '../checks/errors.ts';
import { wholeNumber } from '../checks/options.ts';
import type { BucketName, StoreBlock } from '../store/store.ts';

/** An entry of `Limiter.block`: an id that one limit denies from now on. */
export interface BlockEntry<Name extends string = string> extends BucketName {
  readonly limit: Name;
  /** For how long: whole milliseconds from 1 to 7,776,000,000, 90 days. */
  readonly forMs: number;
  /** Why, for the people who see the block: 1 to 200 characters. Clients do not see it. */
  readonly reason: string;
  /** Who blocks it: 1 to 100 characters. */
  readonly by: string;
}

const MAX_BLOCK_MS = 7_776_000_000;
const MAX_REASON_LENGTH = 200;
const MAX_BY_LENGTH = 100;

/**
 * Makes the block of an entry.
 *
 * @throws {SluiceError} `ERR_OPTION` for a wrong time or text.
 */
export function blockOf(name: BucketName, { forMs, reason, by }: BlockEntry, nowMs: number): StoreBlock {
  const remedy =
    "A block lasts at most 90 days. Ids that stay blocked for longer belong among the overrides of the limit, as 'blocked'.";
  wholeNumber('block.forMs', forMs, { min: 1, max: MAX_BLOCK_MS, remedy });
  checkText('reason', reason, MAX_REASON_LENGTH);
  checkText('by', by, MAX_BY_LENGTH);
  return { ...name, untilMs: nowMs + forMs, reason, by };
}

function checkText(name: string, value: unknown, most: number): void {
  if (typeof value === 'string' && value.trim() !== '' && value.length <= most && value.isWellFormed()) return;
  const remedy = name === 'by' ? "For example by: 'mia'." : "For example reason: 'scrapes the catalogue, ticket 4711'.";
  throw complaint('ERR_OPTION', { option: `block.${name}`, demand: `text of 1 to ${most} characters`, value, remedy });
}
