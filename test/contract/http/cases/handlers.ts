import { expect, test } from 'vitest';
import type { Framework, Handler, Options } from '../framework.ts';
import { as, hashedUserKey, lateStore, stillLimiter, timed, userKey } from '../limiters.ts';
import { start } from '../start.ts';

/** What handlers find on the request, and what they do with it. */
export function handlerCases(framework: Framework): void {
  const handle = (run: Handler) => ({ routes: { '/': { handle: run } } });
  const per = (name: string, count: number, options: object = {}): Options => ({
    name,
    key: userKey,
    count,
    period: '1m',
    store: timed().store,
    ...options,
  });

  test('the decision is on the request', async () => {
    const app = await start(framework, {
      limits: [per('PerUser', 3)],
      ...handle(({ decision }) => JSON.stringify(decision)),
    });
    expect(JSON.parse((await app.get('/', as('ann'))).body)).toEqual({
      outcome: 'allowed',
      allowed: true,
      blocked: false,
      overloaded: false,
      limit: 'PerUser',
      id: 'ann',
      remaining: 2,
      retryAfterMs: 0,
      resetAfterMs: 20_000,
      delayMs: 0,
      results: [
        {
          limit: 'PerUser',
          kind: 'rate',
          id: 'ann',
          cost: 1,
          spent: 1,
          mode: 'check-and-spend',
          allowed: true,
          remaining: 2,
          retryAfterMs: 0,
          resetAfterMs: 20_000,
          burst: 3,
          count: 3,
          periodMs: 60_000,
          overridden: false,
          blocked: false,
          borrowed: false,
          hidden: false,
        },
      ],
    });
  });

  test('of several middlewares the strictest decision is on the request, with the results of all', async () => {
    const app = await start(framework, {
      limits: [per('Wide', 9), per('Narrow', 2), per('Middle', 5)],
      ...handle(
        ({ decision }) => `${decision!.limit} ${decision!.remaining} ${decision!.results.map((r) => r.limit).join()}`,
      ),
    });
    expect((await app.get('/', as('ann'))).body).toBe('Narrow 1 Wide,Narrow,Middle');
  });

  test('a handler gives back what the request took, once, from all limiters', async () => {
    const [wide, narrow] = [timed(), timed()];
    const app = await start(framework, {
      limits: [per('Wide', 9, { store: wide.store, cost: 3 }), per('Narrow', 1, { store: narrow.store })],
      ...handle(async ({ decision }) => {
        await decision!.refund();
        await decision!.refund();
        return 'nothing done';
      }),
    });
    expect(await app.statuses(4, '/', as('ann'))).toEqual([200, 200, 200, 200]);
    expect((await app.get('/', as('ann'))).headers.ratelimit).toContain('"Wide";r=6');
  });

  test('a handler charges the cost that it finds out: at every limit, or at one', async () => {
    const app = await start(framework, {
      limits: [per('Wide', 9), per('Narrow', 5)],
      ...handle(async ({ incoming, decision }) => {
        await decision!.charge(2, incoming.headers['x-limit'] as string | undefined);
        return 'charged';
      }),
    });
    await app.get('/', as('ann'));
    expect((await app.get('/', as('ann', { 'X-Limit': 'Wide' }))).headers.ratelimit).toMatch(
      /"Wide";r=5.*"Narrow";r=1/,
    );
    expect((await app.get('/', as('ann', { 'X-Limit': 'Wide' }))).headers.ratelimit).toMatch(
      /"Wide";r=2.*"Narrow";r=0/,
    );
    expect((await app.get('/', as('ann'))).status).toBe(429);
  });

  test('a charge is taken from the bucket that was decided, also when the id of an id is another one', async () => {
    const app = await start(framework, {
      limits: [per('PerUser', 5, { key: hashedUserKey })],
      ...handle(async ({ decision }) => {
        await decision!.charge(3);
        return 'charged';
      }),
    });
    expect((await app.get('/', as('ann'))).headers.ratelimit).toContain('r=4');
    expect((await app.get('/', as('ann'))).headers.ratelimit).toContain('r=0');
    expect((await app.get('/', as('bob'))).headers.ratelimit).toContain('r=4');
  });

  test('a bucket that two middlewares met is charged once', async () => {
    const limiter = stillLimiter({ limits: { PerUser: { key: userKey, count: 10, period: '1m' } } });
    const app = await start(framework, {
      limits: [{ limiter }, { limiter }],
      ...handle(async ({ decision }) => {
        await decision!.charge(3, 'PerUser');
        return 'charged';
      }),
    });
    expect((await app.get('/', as('ann'))).status).toBe(200);
    expect(await limiter.check([{ limit: 'PerUser', id: 'ann', cost: 0 }])).toMatchObject({ remaining: 5 });
  });

  test('charging a limit that was not used for the request is an error; a limit that does not apply is not', async () => {
    const limiter = stillLimiter({
      limits: { PerUser: { key: userKey, count: 2, period: '1m' } },
      overrides: { PerUser: { root: 'unlimited' } },
    });
    const app = await start(framework, {
      limits: [{ limiter }],
      ...handle(async ({ incoming, decision }) => {
        await decision!.charge(1, incoming.headers['x-limit'] as string);
        return 'charged';
      }),
    });
    expect((await app.get('/', as('root', { 'X-Limit': 'PerUser' }))).status).toBe(200);
    expect((await app.get('/', { headers: { 'X-Limit': 'PerUser' } })).status).toBe(200);
    expect((await app.get('/', as('ann', { 'X-Limit': 'peruser' }))).status).toBe(500);
    expect(app.errors).toMatchObject([{ code: 'ERR_UNKNOWN_LIMIT' }]);
  });

  test.each([-1, 0.5, NaN])('charging %d is an error', async (tokens) => {
    const app = await start(framework, {
      limits: [per('PerUser', 3)],
      ...handle(async ({ decision }) => {
        await decision!.charge(tokens);
        return 'charged';
      }),
    });
    expect((await app.get('/', as('ann'))).status).toBe(500);
    expect(app.errors).toMatchObject([{ code: 'ERR_COST' }]);
  });

  test('a store that answers at once adds no tick before the handler', async () => {
    const order: string[] = [];
    const app = await start(framework, {
      before() {
        process.nextTick(() => order.push('tick'));
        queueMicrotask(() => order.push('microtask'));
      },
      limits: [per('PerUser', 3), per('Other', 3)],
      ...handle(() => {
        order.push('handler');
        return 'ok';
      }),
    });
    await app.get('/', as('ann'));
    expect(order[0]).toBe('handler');
  });

  test('an asynchronous decision is on the request too', async () => {
    const app = await start(framework, {
      limits: [per('PerUser', 3, { store: lateStore() })],
      ...handle(async ({ decision }) => {
        await decision!.charge(1);
        return `${decision!.remaining}`;
      }),
    });
    expect((await app.get('/', as('ann'))).body).toBe('2');
    expect((await app.get('/', as('ann'))).body).toBe('0');
  });

  test('what users put under the name of the decision themselves is replaced', async () => {
    const app = await start(framework, {
      limits: [per('PerUser', 3)],
      ...handle(({ decision }) => decision!.constructor.name),
    });
    expect((await app.get('/', as('ann'))).body).toBe('RequestDecision');
  });
}
