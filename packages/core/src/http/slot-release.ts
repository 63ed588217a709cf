import type { Awaitable } from '../async/awaitable.ts';
import { complaint, reasonOf, SluiceError } from '../checks/errors.ts';
import type { Decided } from '../decision/decided.ts';
import type { RequestLimiter } from '../limiter/request-limiter.ts';
import type { Exchange, ExchangeEnd } from './exchange.ts';
import type { FlowSettings } from './middleware-options.ts';
import type { SlotsUntil } from './slots-until.ts';

/**
 * Rejects a concurrency limit when the exchange has no response, or its adapter does not know when its handler ends: its
 * slots would never be released. And where it can be upgraded to a connection whose end is not seen: its slots would be
 * released while it is open.
 *
 * @param limit - The concurrency limit of the request.
 * @throws {SluiceError} `ERR_OPTION`, `ERR_RUNTIME`.
 */
export function checkHasEnd(
  limit: { readonly name: string },
  exchange: Exchange<unknown>,
  slotsUntil: SlotsUntil<never>,
): void {
  if (exchange.onEnd === undefined) {
    throw complaint('ERR_OPTION', {
      option: 'limits',
      demand: 'without concurrency limits here, because the request has no response',
      value: limit.name,
      remedy:
        'Their slots are released when a response is over. Use `await using decision = await limiter.spend(…)` instead, with ' +
        'the option `hold: true`.',
    });
  }
  if (slotsUntil === 'response' && exchange.closesUnseen === true) throw closesUnseen(limit);
  if (slotsUntil !== 'handler' || exchange.onHandled !== undefined) return;
  throw complaint('ERR_OPTION', {
    option: 'slotsUntil',
    demand: "'response' or a function here, because this adapter does not know when a handler ends",
    value: slotsUntil,
    remedy: 'The function returns the promise of the work, e.g. slotsUntil: (request) => work.get(request).',
  });
}

function closesUnseen(limit: { readonly name: string }): SluiceError {
  return new SluiceError(
    'ERR_RUNTIME',
    `Limit "${limit.name}" can't count the connection of an upgrade, because this runtime does not report when it is closed: its slot would be ` +
      'free while the socket is open. Let `slotsUntil` be a function that returns a promise of the end of the socket; or leave upgrades out by ' +
      '`skip`, and release the decision of `limiter.spend(…)` with `hold: true` when the socket is closed.',
  );
}

/**
 * Releases the slots of the decision on a request when its response is over, whatever happened to it.
 *
 * The callbacks of this file refer to the decision, and not only to its slots: the slots of a decision that was
 * garbage-collected count as abandoned, and would be free while the request is in progress.
 */
export function releaseAfterResponse(
  limiter: RequestLimiter<never>,
  exchange: Exchange<unknown>,
  decision: Decided,
): void {
  if (decision.holding === undefined) return;
  exchange.onEnd!((end) => (end === 'unknown' ? leaveToExpire(limiter, decision) : decision.holding!.release()));
}

/**
 * Releases the slots of the decision on a request, which is now let through, when its handler has ended, or when the
 * promise settles that the function `slotsUntil` returns at the end of the response.
 */
export function releaseAfterHandler<Request, SettleArgs extends readonly unknown[]>(
  { limiter, slotsUntil }: FlowSettings<Request, SettleArgs>,
  exchange: Exchange<Request>,
  settleArgs: SettleArgs,
  decision: Decided,
): void {
  if (decision.holding === undefined) return;
  const release = (): Awaitable<void> => decision.holding!.release();
  if (typeof slotsUntil !== 'function') return exchange.onHandled!(release);
  exchange.onEnd!((end: ExchangeEnd) => {
    if (end === 'unknown') return leaveToExpire(limiter, decision);
    try {
      // Its rejection is the failure of the handler's work, which the handler reports.
      return Promise.resolve(slotsUntil(...settleArgs)).then(release, release);
    } catch (cause) {
      reportFailure(limiter, cause);
      return release();
    }
  });
}

function reportFailure(limiter: RequestLimiter<never>, cause: unknown): void {
  const message = `The slotsUntil function failed (${reasonOf(cause)}). The slots of the request were released.`;
  limiter.emit({ type: 'callback-failed', callback: 'slotsUntil', cause, message });
}

function leaveToExpire(limiter: RequestLimiter<never>, decision: Decided): void {
  decision.holding?.leaveToExpire();
  if (warned.has(limiter)) return;
  warned.add(limiter);
  limiter.emit({ type: 'warning', message: UNKNOWN_END, once: true });
}

/** The limiters that have warned of a response whose end is unknown. */
const warned = new WeakSet<RequestLimiter<never>>();

const UNKNOWN_END =
  'The end of a response could not be observed, because it emits no events. The slots of its concurrency limits are free ' +
  'when they expire, whether the request is still in progress or not.';
