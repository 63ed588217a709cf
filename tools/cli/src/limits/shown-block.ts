import type { BucketName, StoreBlock } from '@sluice/core/store';
import { durationText } from '../console/number-text.ts';
import { shownId } from './shown-id.ts';

/** A block as a command shows it. */
export interface ShownBlock extends BucketName {
  /** In ISO 8601. */
  readonly until: string;
  readonly reason: string;
  readonly by: string;
}

/** `Orders 12345678`. */
export function namedText({ limit, id }: BucketName): string {
  return `${limit} ${shownId(id)}`;
}

/**
 * `blocked until 2026-11-30T18:00:00.000Z (for 1 h 59 min) by mia: ticket 4711`.
 *
 * @param nowMs - Without it, how long it lasts is left out.
 */
export function blockText({ until, reason, by }: ShownBlock, nowMs?: number): string {
  const left = nowMs === undefined ? '' : ` (for ${durationText(Date.parse(until) - nowMs)})`;
  return `blocked until ${until}${left} by ${shownId(by)}: ${shownId(reason)}`;
}

export function shownBlock({ limit, id, untilMs, reason, by }: StoreBlock): ShownBlock {
  return { limit, id, until: new Date(untilMs).toISOString(), reason, by };
}
