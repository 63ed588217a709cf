import { expectSettlement, type Decided } from '../decision/decided.ts';
import { complaint } from '../checks/errors.ts';
import { askedCost, fullCost, reportSettleFailure } from '../limiter/asked-cost.ts';
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
  decision: Decided,
): void {
  for (const { limit, settle, settleAborted = false } of settling) {
    const result = decision.results.find((candidate) => candidate.limit === limit);
    if (result === undefined) continue;
    const endPending = expectSettlement(decision, [result]);
    exchange.onEnd!((end) => {
      if (end === 'unknown') reportSettleFailure(limiter, limit, new TypeError('the response emits no events'));
      const finished = end === 'finished';
      const isAsked = finished || (settleAborted && end === 'aborted');
      const trueCost = isAsked
        ? askedCost(() => settle(...settleArgs, { finished }), limiter, result)
        : Promise.resolve(fullCost(result));
      const { request } = exchange;
      const settled = trueCost
        .then((cost) => (cost === 'as taken' ? undefined : limiter.settleResult(decision, result, { cost, request })))
        // The limiter was closed, or the limit removed, before the response ended.
        .catch((cause: unknown) => reportSettleFailure(limiter, limit, cause))
        .finally(endPending);
      return limiter.trackWork(settled);
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
  decision: Decided,
): void {
  for (const { limit, mode } of settling) {
    if (mode !== 'check-only') continue;
    const result = decision.results.find((candidate) => candidate.limit === limit);
    if (result === undefined) continue;
    const settled = limiter
      .settleResult(decision, result, { cost: result.cost, request })
      .catch((cause: unknown) => reportSettleFailure(limiter, limit, cause));
    void limiter.trackWork(settled);
  }
}
