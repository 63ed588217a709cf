import { complaint, type SluiceError } from '../checks/errors.ts';
import type { HeldUntil } from '../decision/holding.ts';

export type { HeldUntil as SlotsUntil };

/** The option of a middleware about its slots. */
export interface SlotOptions<SettleArgs extends readonly unknown[] = readonly unknown[]> {
  /** Until when a request holds its slots of concurrency limits, see {@link HeldUntil}. Default: `'response'`. */
  readonly slotsUntil?: HeldUntil<SettleArgs> | undefined;
}

/**
 * Validates the option `slotsUntil`.
 *
 * @param holds - Whether the middleware may have a concurrency limit.
 * @throws {SluiceError} `ERR_OPTION`.
 */
export function checkedHeldUntil<SettleArgs extends readonly unknown[]>(
  { slotsUntil: until = 'response' }: SlotOptions<SettleArgs>,
  holds: boolean,
): HeldUntil<SettleArgs> {
  if (until !== 'response' && until !== 'handler' && typeof until !== 'function')
    throw wrong("'response' or 'handler' or a function", until, ANOTHER);
  if (holds || until === 'response') return until;
  throw wrong('left out without `concurrency`', until, NOTHING_HELD);
}

function wrong(demand: string, value: unknown, remedy: string): SluiceError {
  return complaint('ERR_OPTION', { option: 'slotsUntil', demand, value, remedy });
}

const ANOTHER =
  "With 'handler' a slot is held until the handler has ended, even after its client has left. For the default, 'response', leave it out.";
const NOTHING_HELD =
  "Only concurrency limits have slots, e.g. rateLimit({ limit: concurrency({ key, concurrency: 10 }), slotsUntil: 'handler' }).";
