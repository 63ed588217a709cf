import { complaint, SluiceError } from '../checks/errors.ts';
import type { Limit } from '../limits/limit.ts';
import type { Mode } from '../store/store.ts';

/** A call with entries. */
export type EntryCall = 'spend' | 'hold' | 'check' | 'firstOf' | 'charge' | 'refund';

const INSTEAD: Readonly<Record<Exclude<EntryCall, 'hold' | 'check'>, string>> = {
  spend: 'Slots have to be released: call `hold` with the same entries, and `release()` of its decision.',
  firstOf: 'Alternatives take tokens only: call `hold` with the entries of one batch.',
  charge: 'Slots are held and released, and not charged: leave the entry out.',
  refund: 'Slots are released with `release()` of the decision of `hold`. To free all slots of an id, use `reset`.',
};

/**
 * Rejects a call, or a mode, in which the slots of a concurrency limit can't be held.
 *
 * @throws {SluiceError} `ERR_OPTION`.
 */
export function checkCall({ name, treatment }: Limit<never>, call: EntryCall, mode: Mode): void {
  if (treatment.slots === undefined) return;
  checkSlotMode(name, mode);
  if (call === 'hold' || call === 'check') return;
  throw new SluiceError(
    'ERR_OPTION',
    `\`${call}\` must not be given the limit "${name}", because it is a concurrency limit. ${INSTEAD[call]}`,
  );
}

/**
 * Rejects the mode `charge` for a concurrency limit.
 *
 * @throws {SluiceError} `ERR_OPTION`.
 */
export function checkSlotMode(limit: string, mode: Mode): void {
  if (mode !== 'charge') return;
  throw complaint('ERR_OPTION', {
    option: 'mode',
    limit,
    demand: "'check-and-spend', 'check-only' or 'spend-only', because it is a concurrency limit",
    value: mode,
    remedy: 'To count without denying use `shadow: true` of the middleware.',
  });
}
