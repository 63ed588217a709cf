import type { Awaitable } from '../async/awaitable.ts';
import { reasonOf } from '../checks/errors.ts';
import { checkCost } from '../decision/batch.ts';
import type { Result } from '../decision/result.ts';
import type { EventSink } from '../events/event.ts';

/**
 * Returns the true cost from a user's `settle` function; if that fails, emits an event and returns the full cost. Never
 * rejects.
 */
export async function askedCost(
  ask: () => Awaitable<number>,
  limiter: { readonly emit: EventSink },
  result: Result,
): Promise<number | 'as taken'> {
  try {
    const trueCost: unknown = await ask();
    checkCost(result.limit, trueCost);
    return trueCost;
  } catch (cause) {
    reportSettleFailure(limiter, result.limit, cause);
    return fullCost(result);
  }
}

/**
 * With `check-only`, the cost is still to be charged. Otherwise it was taken and stays taken, even if the handler
 * refunded it.
 */
export function fullCost({ mode, cost }: Result): number | 'as taken' {
  return mode === 'check-only' ? cost : 'as taken';
}

/** Emits the event of a `settle` function that failed, or whose cost could not be taken. */
export function reportSettleFailure({ emit }: { readonly emit: EventSink }, limit: string, cause: unknown): void {
  const message = `The settle function of limit "${limit}" failed (${reasonOf(cause)}). The client stays charged with the full cost.`;
  emit({ type: 'callback-failed', callback: 'settle', cause, message });
}
