import type { ServerResponse } from 'node:http';
import type { Awaitable } from '../awaitable.ts';
import { checkCost } from '../batch.ts';
import type { Decision, Result } from '../decision.ts';
import type { LimiterCore } from '../limiter.ts';
import type { Exchange } from './exchange.ts';
import type { FlowSettings } from './middleware-options.ts';
import { reasonOf } from './thrown.ts';

/** Settles the costs of an allowed request once its response is over, for each limit that has a `settle`. */
export function settleAfterResponse<Request, SettleArgs extends readonly unknown[]>(
  { limiter, uses }: FlowSettings<Request, SettleArgs>,
  { outgoing }: Exchange<Request>,
  settleArgs: SettleArgs,
  decision: Decision,
): void {
  for (const { limit, settle } of uses) {
    if (settle === undefined || outgoing === undefined) continue;
    const result = decision.results.find((candidate) => candidate.limit === limit);
    if (result === undefined) continue;
    onceOver(outgoing, (finished) => {
      const trueCost = finished
        ? askedCost(() => settle(...settleArgs), limiter, result)
        : Promise.resolve(fullCost(result));
      trueCost
        .then((cost) => (cost === 'as held' ? undefined : limiter.settle(decision, result, cost)))
        // The limiter was closed before the response was over, or the limit is gone.
        .catch((cause: unknown) => reportFailure(limiter, limit, cause));
    });
  }
}

/** Calls back once: with true when the whole response was handed to the system, false when the client left before. */
function onceOver(response: ServerResponse, done: (finished: boolean) => void): void {
  // The store took its time and the client is gone: neither event comes any more.
  if (response.closed || response.destroyed) return done(response.writableFinished);
  const over = (finished: boolean) => (): void => {
    response.off('finish', onFinish).off('close', onClose);
    done(finished);
  };
  const onFinish = over(true);
  const onClose = over(false);
  response.once('finish', onFinish).once('close', onClose);
}

/** What was held stays as it is, also where the handler has given it back. What was only checked is yet to be taken. */
function fullCost({ mode, cost }: Result): number | 'as held' {
  return mode === 'check-only' ? cost : 'as held';
}

/** The true cost as the user's function tells it, or the full one with an event when it fails. Never rejects. */
async function askedCost(
  ask: () => Awaitable<number>,
  limiter: LimiterCore<never>,
  result: Result,
): Promise<number | 'as held'> {
  try {
    const trueCost: unknown = await ask();
    checkCost(result.limit, trueCost);
    return trueCost;
  } catch (cause) {
    reportFailure(limiter, result.limit, cause);
    return fullCost(result);
  }
}

function reportFailure(limiter: LimiterCore<never>, limit: string, cause: unknown): void {
  const message = `Sluice: settle of ${limit} failed: ${reasonOf(cause)}. The full cost stays.`;
  limiter.notify({ type: 'callback-failed', callback: 'settle', cause, message });
}
