import { complaint, SluiceError } from '../checks/errors.ts';
import type { Limit } from '../limits/limit.ts';
import type { Mode } from '../store/store.ts';

/** A call with entries. `hold` is a `spend` whose decision holds slots. */
export type EntryCall = 'spend' | 'hold' | 'check' | 'firstOf' | 'charge' | 'refund' | 'reset' | 'settle';

/** What to do instead of a call that holds no slots. */
const OF_SLOTS: Readonly<Partial<Record<EntryCall, string>>> = {
  spend: 'Slots have to be released: add the option `hold: true`, and call `release()` of the decision.',
  firstOf: 'Alternatives take tokens only: call `spend` with the entries of one batch and `hold: true`.',
  charge: 'Slots are held and released, and not charged: leave it out.',
  settle: 'Slots are released, and not settled: leave it out.',
  refund:
    'Slots are released with `release()` of the decision that holds them. To free all slots of an id, use `reset`.',
};

const OF_LOADS: Readonly<Partial<Record<EntryCall, string>>> = {
  firstOf: 'Call `check` or `spend` with the load limit alone before.',
  charge: 'It counts nothing: leave it out.',
  settle: 'It counts nothing: leave it out.',
  refund: 'It counts nothing: leave the entry out.',
  reset: 'It counts nothing: leave the entry out. To stop shedding, use the option `enabled` of its load.',
};

/**
 * Rejects a call, or a mode, that a concurrency limit or a load limit does not have.
 *
 * @throws {SluiceError} `ERR_OPTION`.
 */
export function checkCall(limit: Limit<never>, call: EntryCall, mode: Mode): void {
  checkModeOf(limit, mode);
  const kind = nounOf(limit);
  if (kind === undefined) return;
  const remedy = (limit.load === undefined ? OF_SLOTS : OF_LOADS)[call];
  if (remedy === undefined) return;
  throw new SluiceError(
    'ERR_OPTION',
    `\`${call}\` must not be given the limit "${limit.name}", because it is ${kind}. ${remedy}`,
  );
}

/**
 * Rejects a use of a limit by a middleware that a concurrency limit or a load limit does not have.
 *
 * @throws {SluiceError} `ERR_OPTION` for the mode `charge`, and for a cost that is settled.
 */
export function checkUse(limit: Limit<never>, { mode, settles }: { mode: Mode; settles: boolean }): void {
  checkModeOf(limit, mode);
  const kind = settles ? nounOf(limit) : undefined;
  if (kind === undefined) return;
  throw complaint('ERR_OPTION', {
    option: `limits.${limit.name}.settle`,
    demand: `left out, because it is ${kind}`,
    value: 'a function',
    remedy: 'Only tokens can be settled. To count the work that was done, define a rate or a quota beside it.',
  });
}

/**
 * Rejects the mode `charge` for a concurrency limit or a load limit.
 *
 * @throws {SluiceError} `ERR_OPTION`.
 */
function checkModeOf(limit: Limit<never>, mode: Mode): void {
  const kind = mode === 'charge' ? nounOf(limit) : undefined;
  if (kind === undefined) return;
  throw complaint('ERR_OPTION', {
    option: 'mode',
    limit: limit.name,
    demand: `'check-and-spend', 'check-only' or 'spend-only', because it is ${kind}`,
    value: mode,
    remedy: 'To decide without denying use `shadow: true` of the middleware.',
  });
}

function nounOf({ load, treatment }: Limit<never>): string | undefined {
  if (load !== undefined) return 'a load limit';
  return treatment.slots === undefined ? undefined : 'a concurrency limit';
}
