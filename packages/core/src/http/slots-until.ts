import { complaint } from '../checks/errors.ts';

/**
 * Until when the requests of a middleware hold the slots of its concurrency limits.
 *
 * - `'response'`: until the response is over. When the client leaves, the slot is free at once, while the handler may
 *   still work.
 * - `'handler'`: until the handler has ended, even after the client has left, and even if the client is still reading the
 *   response. In Koa and Fastify that is when its promise settles. In Express, and in a Fastify handler without a
 *   promise, it is when the response was ended (`res.end`, `res.send`, `reply.send`, …) or destroyed.
 * - A function: called when the response is over, with the arguments of `settle`. The slots are released when the promise
 *   that it returns settles, either way; at once for any other value.
 */
export type SlotsUntil<SettleArgs extends readonly unknown[] = readonly unknown[]> =
  | 'response'
  | 'handler'
  | ((...args: SettleArgs) => unknown);

/** The option of a middleware about its slots. */
export interface SlotOptions<SettleArgs extends readonly unknown[] = readonly unknown[]> {
  /** Until when a request holds its slots of concurrency limits, see {@link SlotsUntil}. Default: `'response'`. */
  readonly slotsUntil?: SlotsUntil<SettleArgs> | undefined;
}

/**
 * Validates the option `slotsUntil`.
 *
 * @throws {SluiceError} `ERR_OPTION`.
 */
export function checkedSlotsUntil<SettleArgs extends readonly unknown[]>(
  { slotsUntil = 'response' }: SlotOptions<SettleArgs>,
  hasSlots: boolean,
): SlotsUntil<SettleArgs> {
  if (slotsUntil !== 'response' && slotsUntil !== 'handler' && typeof slotsUntil !== 'function') {
    const demand = "'response' or 'handler' or a function";
    throw complaint('ERR_OPTION', { option: 'slotsUntil', demand, value: slotsUntil, remedy: REMEDY });
  }
  if (hasSlots || slotsUntil === 'response') return slotsUntil;
  throw complaint('ERR_OPTION', {
    option: 'slotsUntil',
    demand: 'left out without `concurrency`',
    value: slotsUntil,
    remedy:
      "Only concurrency limits have slots, e.g. rateLimit({ limit: concurrency({ key, concurrency: 10 }), slotsUntil: 'handler' }).",
  });
}

const REMEDY =
  "With 'handler' a slot is held until the handler has ended, even after its client has left. For the default, 'response', leave it out.";
