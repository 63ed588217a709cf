import { createLimiter, everyone } from '@sluice/core';
import { createScheduler } from '@sluice/core/scheduler';
import { FakeTime } from '@sluice/core/testing';
import { limitedDispatch, limitedFetch } from '@sluice/outgoing';
import { expect, test } from 'vitest';

const url = 'https://api.example.com';

test('doors of one limiter have one probe after a denial, whatever their options are', async () => {
  const time = new FakeTime();
  const limits = { Api: { key: everyone(), burst: 100, count: 1000, period: '1s' } } as const;
  const limiter = createLimiter({ limits, time, log: false });
  const scheduler = createScheduler(limiter);
  const sentMs: number[] = [];
  const fetch = (): Promise<Response> =>
    sentMs.push(time.nowMs) === 1
      ? Promise.resolve(new Response(null, { status: 429, headers: { 'retry-after': '2' } }))
      : new Promise(() => undefined);
  const doors = [
    limitedFetch({ scheduler, fetch }),
    limitedFetch({ scheduler, fetch, learnAtMost: '10s' }),
    limitedFetch({ scheduler, fetch, learn: { requests: 'Api' }, limits: ['Api'] }),
    // Another scheduler of the same limiter.
    limitedFetch({ scheduler: createScheduler(limiter), fetch }),
  ];
  await doors[0]!(url);
  for (const door of doors) void door(url);
  const dispatched: number[] = [];
  const dispatch = limitedDispatch(scheduler)(() => dispatched.push(time.nowMs) > 0) as unknown as (
    call: object,
    handler: object,
  ) => boolean;
  dispatch({ origin: url, path: '/', method: 'GET' }, {});
  await time.pass(0);
  await time.pass(5000);
  expect([sentMs, dispatched]).toEqual([[0, 2000], []]);
});
