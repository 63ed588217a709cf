import type { Override, OverrideFunction } from '@sluice/core';
import { expect, test } from 'vitest';
import type { Framework, NativeRequest } from '../framework.ts';
import { as, stillLimiter, userKey } from '../limiters.ts';
import { start } from '../start.ts';

const PLANS: Readonly<Record<string, Override>> = {
  pro: { burst: 10, count: 10, period: '1m' },
  free: { burst: 2, count: 2, period: '1m' },
};

/** The plan that a request names in its `X-Plan` field, as a verified token would. */
function planOf(request: NativeRequest | undefined): Override | undefined {
  return PLANS[String(request?.headers['x-plan'])];
}

/** Overrides that depend on the request. */
export function overrideCases(framework: Framework): void {
  const limits = { PerUser: { key: userKey, count: 1, period: '1m' } };
  const pro = (user: string) => as(user, { 'X-Plan': 'pro' });

  test.each<[string, OverrideFunction<NativeRequest>]>([
    ['at once', (_limit, _id, request) => planOf(request)],
    ['later', async (_limit, _id, request) => planOf(request)],
  ])('an overrides function gives numbers by the request, %s', async (_when, overrides) => {
    const app = await start(framework, { limits: [{ limiter: stillLimiter({ limits, overrides }) }] });
    expect((await app.get('/', pro('ann'))).headers['ratelimit-policy']).toBe('"PerUser";q=10;w=60');
    const free = as('bob', { 'X-Plan': 'free' });
    expect((await app.get('/', free)).headers['ratelimit-policy']).toBe('"PerUser";q=2;w=60');
    expect(await app.statuses(2, '/', as('cid'))).toEqual([200, 429]);
  });

  test('an overrides function gets the framework’s own request', async () => {
    const asked: unknown[] = [];
    const overrides = (...args: unknown[]): undefined => void asked.push(args);
    const onDecision = (_decision: unknown, request: NativeRequest) => void asked.push(request);
    const app = await start(framework, { limits: [{ limiter: stillLimiter({ limits, overrides }), onDecision }] });
    await app.get('/', as('ann'));
    expect(asked).toHaveLength(2);
    const [args, request] = asked as [unknown[], NativeRequest];
    expect(args).toEqual(['PerUser', 'ann', expect.anything()]);
    expect(args[2]).toBe(request);
  });

  test('what a handler charges and what settle corrects goes by the numbers of the request too', async () => {
    const requests: unknown[] = [];
    const overrides: OverrideFunction<NativeRequest> = (_limit, _id, request) => {
      requests.push(request);
      return planOf(request);
    };
    const limiter = stillLimiter({ limits, overrides });
    let given: () => void;
    const settled = new Promise<void>((resolve) => (given = resolve));
    const settle = framework.settle(() => (setImmediate(given), 4)) as never;
    const app = await start(framework, {
      limits: [{ limiter, limits: [{ limit: 'PerUser', settle }] }],
      routes: {
        '/': {
          async handle({ decision }) {
            await decision?.charge(3);
            return 'ok';
          },
        },
      },
    });
    await app.get('/', pro('ann'));
    await settled;
    expect(requests).toHaveLength(3);
    expect(new Set(requests).size).toBe(1);
    // 10 − 4 by settle − 3 by the handler.
    expect((await app.get('/', pro('ann'))).headers.ratelimit).toBe('"PerUser";r=2;t=6');
  });
}
