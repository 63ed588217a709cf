import { andThen } from '../async/awaitable.ts';
import { SluiceError } from '../checks/errors.ts';
import type { LimitSet } from './limit-set.ts';
import type { Limit, OverrideRate, RateLookup } from '../limits/limit.ts';

/**
 * Returns a set that rejects each use of a limit with `maxWait`, where timers end with the request that set them. A queue
 * needs them: a request that has ended would keep its place, and nobody would call the next one.
 *
 * Each use, and not the definition: a module that does not load would not say why to those who look at its answers.
 */
export function withoutWaits<Request>(set: LimitSet<Request>): LimitSet<Request> {
  const rateFor: RateLookup = (limit, id, request) =>
    andThen(set.rateFor?.(limit, id, request) ?? limit.rate, (rate) => withoutWait(limit, rate));
  return { ...set, rateFor };
}

function withoutWait(limit: Limit<never>, rate: OverrideRate): OverrideRate {
  const waitTicks = typeof rate === 'string' ? undefined : (rate.waitTicks ?? limit.rate.waitTicks);
  if (waitTicks === undefined || waitTicks === 0) return rate;
  throw new SluiceError(
    'ERR_RUNTIME',
    `Limit "${limit.name}" has a \`maxWait\`, which this runtime can't keep: a timer of a Worker ends with the request that set it, ` +
      'so a queue would stop as soon as one of its clients left. Remove `maxWait`: requests are then denied, with the time after which they may come back.',
  );
}
