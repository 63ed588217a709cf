import { cachedOverrides, type CachedOverridesOptions, type LimitNumbers, type Override } from '@sluice/core';
import { FakeTime } from '@sluice/core/testing';
import { deferred } from '../../support/promises.ts';

export const pro: LimitNumbers = { count: 100, period: '1s' };

export const team: LimitNumbers = { count: 500, period: '1s' };

interface Setup extends Partial<CachedOverridesOptions> {
  readonly answer?: (limit: string, id: string) => unknown;
}

/** Creates cached overrides on a fake clock, with the queries and events so far. */
export function cached({ answer = () => Promise.resolve(pro), ...options }: Setup = {}) {
  const time = new FakeTime();
  const asked: string[] = [];
  const events: object[] = [];
  const overrides = cachedOverrides(
    (limit, id) => {
      asked.push(`${limit} ${id}`);
      return answer(limit, id) as Promise<Override | undefined>;
    },
    { maxAge: '1m', time, log: false, onEvent: (event) => events.push(event), ...options },
  );
  const get = (id = '7', limit = 'Orders'): unknown => overrides(limit, id);
  return { overrides, get, time, asked, events };
}

/** Creates an answer function whose promises the test settles, one after the other. */
export function answers() {
  const queries: ReturnType<typeof deferred<unknown>>[] = [];
  const answer = (): Promise<unknown> => {
    const next = deferred<unknown>();
    queries.push(next);
    return next.promise;
  };
  return { queries, answer };
}
