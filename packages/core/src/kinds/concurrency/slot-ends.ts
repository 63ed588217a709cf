import { complaint, SluiceError } from '../../checks/errors.ts';
import type { EndingExchange, HeldUntil } from '../../decision/holding.ts';

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
  exchange: EndingExchange,
  slotsUntil: HeldUntil<never>,
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
