import type { Awaitable } from '../async/awaitable.ts';
import { checkCost } from '../decision/batch.ts';
import type { Decision } from '../decision/decision.ts';
import type { Result } from '../decision/result.ts';
import { complaint, reasonOf } from '../checks/errors.ts';
import type { RequestLimiter } from '../limiter/request-limiter.ts';
import type { Exchange } from './exchange.ts';
import type { FlowSettings } from './middleware-options.ts';

/**
 * Rejects a `settle` function when the exchange has no response: it would never be called.
 *
 * @throws {SluiceError} `ERR_OPTION`.
 */
export function checkSettles({ settling }: FlowSettings<never, never>, exchange: Exchange<unknown>): void {
  const [use] = settling;
  if (use === undefined || exchange.onEnd !== undefined) return;
  throw complaint('ERR_OPTION', {
    option: `limits.${use.limit}.settle`,
    demand: 'left out here, because the request has no response',
    value: use.settle,
    remedy: 'It is called when a response is over. To charge later, use limiter.charge([{ limit, id, cost }]).',
  });
}

/** Settles the costs of an allowed request when its response has ended, for each limit with a `settle` function. */
export function settleAfterResponse<Request, SettleArgs extends readonly unknown[]>(
  { limiter, settling }: FlowSettings<Request, SettleArgs>,
  exchange: Exchange<Request>,
  settleArgs: SettleArgs,
  decision: Decision,
): void {
  for (const { limit, settle, settleAborted = false } of settling) {
    const result = decision.results.find((candidate) => candidate.limit === limit);
    if (result === undefined) continue;
    exchange.onEnd!((end) => {
      if (end === 'unknown') reportFailure(limiter, limit, new TypeError('the response emits no events'));
      const finished = end === 'finished';
      const isAsked = finished || (settleAborted && end === 'aborted');
      const trueCost = isAsked
        ? askedCost(() => settle(...settleArgs, { finished }), limiter, result)
        : Promise.resolve(fullCost(result));
      const { request } = exchange;
      const settled = trueCost
        .then((cost) => (cost === 'as taken' ? undefined : limiter.settle(decision, result, { cost, request })))
        // The limiter was closed, or the limit removed, before the response ended.
        .catch((cause: unknown) => reportFailure(limiter, limit, cause));
      void limiter.trackWork(settled);
    });
  }
}

/**
 * Takes the full costs of a request that is passed to the error handler because of invalid input. Its handler never
 * runs, so `settle` can't know the cost. What was taken stays taken; what was only checked is charged.
 */
export function chargeFullCosts(
  { limiter, settling }: FlowSettings<never, never>,
  { request }: Pick<Exchange<unknown>, 'request'>,
  decision: Decision,
): void {
  for (const { limit, mode } of settling) {
    if (mode !== 'check-only') continue;
    const result = decision.results.find((candidate) => candidate.limit === limit);
    if (result === undefined) continue;
    const settled = limiter
      .settle(decision, result, { cost: result.cost, request })
      .catch((cause: unknown) => reportFailure(limiter, limit, cause));
    void limiter.trackWork(settled);
  }
}

/**
 * With `check-only`, the cost is still to be charged. Otherwise it was taken and stays taken, even if the handler
 * refunded it.
 */
function fullCost({ mode, cost }: Result): number | 'as taken' {
  return mode === 'check-only' ? cost : 'as taken';
}

/**
 * Returns the true cost from the user's function; if that fails, emits an event and returns the full cost. Never
 * rejects.
 */
async function askedCost(
  ask: () => Awaitable<number>,
  limiter: RequestLimiter<never>,
  result: Result,
): Promise<number | 'as taken'> {
  try {
    const trueCost: unknown = await ask();
    checkCost(result.limit, trueCost);
    return trueCost;
  } catch (cause) {
    reportFailure(limiter, result.limit, cause);
    return fullCost(result);
  }
}

function reportFailure(limiter: RequestLimiter<never>, limit: string, cause: unknown): void {
  const message = `The settle function of limit "${limit}" failed (${reasonOf(cause)}). The client stays charged with the full cost.`;
  limiter.emit({ type: 'callback-failed', callback: 'settle', cause, message });
}
