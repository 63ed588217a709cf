import { complaint, SluiceError } from '../checks/errors.ts';
import type { Limit } from '../limits/limit.ts';
import type { EntryCall } from '../limits/limit-kind.ts';
import type { Mode } from '../store/store.ts';

export type { EntryCall };

/**
 * Rejects a call, or a mode, that a concurrency limit or a load limit does not have.
 *
 * @throws {SluiceError} `ERR_OPTION`.
 */
export function checkCall(limit: Limit<never>, call: EntryCall, mode: Mode): void {
  checkModeOf(limit, mode);
  const { instead, noun: kind } = limit.kind;
  const remedy = instead?.[call];
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

function nounOf({ kind }: Limit<never>): string | undefined {
  return kind.instead === undefined ? undefined : kind.noun;
}
