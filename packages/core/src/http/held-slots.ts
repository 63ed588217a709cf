import { complaint } from '../checks/errors.ts';
import type { Decision } from '../decision/decision.ts';
import type { RequestLimiter } from '../limiter/request-limiter.ts';
import type { Exchange } from './exchange.ts';

/**
 * Rejects a concurrency limit when the exchange has no response: its slots would never be released.
 *
 * @param limit - The concurrency limit of the request, if it has one.
 * @throws {SluiceError} `ERR_OPTION`.
 */
export function checkHasEnd(limit: { readonly name: string } | undefined, exchange: Exchange<unknown>): void {
  if (limit === undefined || exchange.onEnd !== undefined) return;
  throw complaint('ERR_OPTION', {
    option: 'limits',
    demand: 'without concurrency limits here, because the request has no response',
    value: limit.name,
    remedy: 'Their slots are released when a response is over. Use `await using held = await limiter.hold(…)` instead.',
  });
}

/**
 * Releases the slots of the decision on a request when its response is over, whatever happened to it.
 *
 * @returns Whether the client had left before. The handler of such a request would run without a slot.
 */
export function releaseAfterResponse(
  limiter: RequestLimiter<never>,
  exchange: Exchange<unknown>,
  decision: Decision,
): boolean {
  if (!limiter.holdsSlots(decision)) return false;
  let hasLeft = false;
  exchange.onEnd!((end) => {
    hasLeft = end === 'never-begun';
    if (end === 'unknown') leaveToLease(limiter, decision);
    else void limiter.releaseSlots(decision);
  });
  return hasLeft;
}

function leaveToLease(limiter: RequestLimiter<never>, decision: Decision): void {
  limiter.abandonSlots(decision);
  if (warned.has(limiter)) return;
  warned.add(limiter);
  limiter.emit({ type: 'warning', message: UNKNOWN_END, once: true });
}

/** The limiters that have warned of a response whose end is unknown. */
const warned = new WeakSet<RequestLimiter<never>>();

const UNKNOWN_END =
  'The end of a response could not be observed, because it emits no events. The slots of its concurrency limits are free ' +
  'when their lease ends, whether the request is still in progress or not.';
