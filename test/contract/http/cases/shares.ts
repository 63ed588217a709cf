import { accountId } from '@sluice/core';
import { expect, test } from 'vitest';
import type { Framework, NativeRequest, Options } from '../framework.ts';
import { as, brokenStore, lateStore, stillLimiter, timed, userKey } from '../limiters.ts';
import { start } from '../start.ts';

/** Requests that may fill only a share of a bucket. */
export function shareCases(framework: Framework): void {
  const fleet = (count = 10) => ({ Fleet: { key: accountId(() => 'all'), count, period: '100s' } });
  const shareOf = ({ headers }: NativeRequest): number => (headers['x-user'] === 'checkout' ? 1 : 0.8);

  test.each([
    ['a number', { share: 0.8 }, { share: 1 }],
    ['a function', { share: shareOf }, { share: shareOf }],
    ['an async function', { share: async (request: NativeRequest) => shareOf(request) }, {}],
    ['a function, beside an async cost', { share: shareOf, cost: async () => 1 }, { share: shareOf, cost: () => 1 }],
  ])(
    'a batch job that is denied leaves a checkout its 20 %%, with a share that is %s',
    async (_what, batch, checkout) => {
      const { store, time } = timed();
      const limiter = stillLimiter({ limits: fleet(), store });
      const app = await start(framework, {
        routes: {
          '/batch': { limits: [{ limiter, limits: [{ limit: 'Fleet', ...batch }] }] },
          '/checkout': { limits: [{ limiter, limits: [{ limit: 'Fleet', ...checkout }] }] },
        },
      });
      expect(await app.statuses(10, '/batch', as('batch'))).toEqual([...Array(8).fill(200), 429, 429]);
      expect(await app.statuses(3, '/checkout', as('checkout'))).toEqual([200, 200, 429]);
      const { headers } = await app.get('/batch', as('batch'));
      expect(headers['retry-after']).toBe('30');
      time.advance(29_999);
      expect(await app.statuses(1, '/batch', as('batch'))).toEqual([429]);
      time.advance(1);
      expect(await app.statuses(2, '/batch', as('batch'))).toEqual([200, 429]);
    },
  );

  test('the fields report what the share of the request has left, and the policy of the whole bucket', async () => {
    const limiter = stillLimiter({ limits: fleet() });
    const app = await start(framework, {
      limits: [{ limiter, limits: [{ limit: 'Fleet', share: shareOf, cost: 4 }] }],
    });
    const { headers } = await app.get('/', as('batch'));
    expect(headers.ratelimit).toBe('"Fleet";r=4;t=10');
    expect(headers['ratelimit-policy']).toBe('"Fleet";q=10;w=100');
    expect((await app.get('/', as('checkout'))).headers.ratelimit).toBe('"Fleet";r=2;t=10');
    const denied = await app.get('/', as('batch'));
    expect(denied.status).toBe(429);
    expect(denied.headers.ratelimit).toBe('"Fleet";r=0;t=10');
    expect(denied.headers['retry-after']).toBe('40');
  });

  test.each([
    ['draft-7', 'ratelimit', 'limit=10, remaining=7, reset=10'],
    ['draft-6', 'ratelimit-remaining', '7'],
    ['legacy', 'x-ratelimit-remaining', '7'],
  ] as const)('the dialect %s reports what the share has left', async (fields, name, value) => {
    const limits = [{ limit: 'Fleet', share: 0.8 }];
    const app = await start(framework, { limits: [{ limiter: stillLimiter({ limits: fleet() }), limits, fields }] });
    expect((await app.get()).headers[name]).toBe(value);
  });

  test('a client that sends as much as the fields report, and then waits as long, is never denied', async () => {
    const { store, time } = timed();
    const limiter = stillLimiter({ limits: fleet(7), store });
    const app = await start(framework, { limits: [{ limiter, limits: [{ limit: 'Fleet', share: 0.66 }] }] });
    let { headers } = await app.get();
    for (let turn = 0; turn < 8; turn++) {
      const [, left, wait] = /r=(\d+);t=(\d+)/.exec(headers.ratelimit as string)!;
      expect(await app.statuses(Number(left))).toEqual(Array(Number(left)).fill(200));
      time.advance(Number(wait) * 1000);
      const next = await app.get();
      expect(next.status).toBe(200);
      ({ headers } = next);
      time.advance(turn * 3_777);
    }
  });

  test('an inline limit may have a share by request', async () => {
    const app = await start(framework, {
      limits: [{ name: 'Fleet', ...fleet(5).Fleet, share: shareOf, store: timed().store }],
    });
    expect(await app.statuses(5, '/', as('batch'))).toEqual([200, 200, 200, 200, 429]);
    expect(await app.statuses(2, '/', as('checkout'))).toEqual([200, 429]);
  });

  test('a share is not asked for when the limit does not apply', async () => {
    let asked = 0;
    const share = (): number => (asked++, 0.5);
    const limiter = stillLimiter({ limits: { PerUser: { key: userKey, count: 2, period: '1m' } } });
    const app = await start(framework, { limits: [{ limiter, limits: [{ limit: 'PerUser', share }] }] });
    expect(await app.statuses(3)).toEqual([200, 200, 200]);
    expect(asked).toBe(0);
    expect(await app.statuses(2, '/', as('ann'))).toEqual([200, 429]);
    expect(asked).toBe(2);
  });

  test('handlers see what the share has left; what they charge comes out of the whole bucket', async () => {
    const limiter = stillLimiter({ limits: fleet() });
    const app = await start(framework, {
      limits: [{ limiter, limits: [{ limit: 'Fleet', share: 0.8 }] }],
      routes: {
        '/': {
          handle: async ({ decision }) => {
            const { remaining } = decision!;
            await decision!.charge(9);
            return String(remaining);
          },
        },
        '/back': { handle: async ({ decision }) => (await decision!.refund(), 'ok') },
      },
    });
    const remaining = async () => (await limiter.check([{ limit: 'Fleet', id: 'all', cost: 0 }])).remaining;
    await app.get('/back');
    expect(await remaining()).toBe(10);
    expect((await app.get()).body).toBe('7');
    expect(await remaining()).toBe(0);
  });

  test('settle charges the true cost to the whole bucket, also above the share', async () => {
    const limiter = stillLimiter({ limits: fleet() });
    const limits = [{ limit: 'Fleet', share: 0.5, settle: framework.settle(() => 7) }];
    const app = await start(framework, { limits: [{ limiter, limits }] });
    expect((await app.get()).status).toBe(200);
    await expect.poll(async () => (await limiter.check([{ limit: 'Fleet', id: 'all', cost: 0 }])).remaining).toBe(3);
    expect((await app.get()).status).toBe(429);
  });

  test('in shadow mode a full share denies no request', async () => {
    const outcomes: string[] = [];
    const app = await start(framework, {
      limits: [
        {
          limiter: stillLimiter({ limits: fleet() }),
          limits: [{ limit: 'Fleet', share: 0.1 }],
          shadow: true,
          onDecision: ({ outcome }) => outcomes.push(outcome),
        },
      ],
    });
    expect(await app.statuses(2)).toEqual([200, 200]);
    expect(outcomes).toEqual(['allowed', 'denied']);
  });

  test('while the store is down, this process keeps the share, for at least one token', async () => {
    for (const [gateways, admitted] of [
      [1, 8],
      [2, 4],
      [20, 1],
    ] as const) {
      // prettier-ignore
      const failure = { gateways };
      const limiter = stillLimiter({ limits: fleet(), store: brokenStore(), failure });
      const app = await start(framework, { limits: [{ limiter, limits: [{ limit: 'Fleet', share: 0.8 }] }] });
      const statuses = await app.statuses(admitted + 1);
      expect(statuses).toEqual([...Array(admitted).fill(200), 429]);
    }
  });

  test.each([0, -1, 1.5, NaN, '0.8', undefined, null])(
    'a share function that gives %o is an error, and the request counts at the limits beside it',
    async (share) => {
      for (const store of [timed().store, lateStore()]) {
        const limiter = stillLimiter({
          limits: { ...fleet(), PerUser: { key: userKey, count: 2, period: '1m' } },
          store,
        });
        const limits = [{ limit: 'Fleet', share: () => share as number }, 'PerUser'];
        const app = await start(framework, { limits: [{ limiter, limits }] });
        expect(await app.statuses(3, '/', as('ann'))).toEqual([500, 500, 429]);
        expect(app.errors[0]).toMatchObject({ name: 'SluiceError', code: 'ERR_OPTION', kind: 'use' });
      }
    },
  );

  test.each([
    ['throws', () => boom()],
    ['rejects', async () => boom()],
  ])('a share function that %s is an error, and the request counts at the limits beside it', async (_what, share) => {
    const limiter = stillLimiter({ limits: { ...fleet(), PerUser: { key: userKey, count: 2, period: '1m' } } });
    const limits = [
      { limit: 'Fleet', share, cost: async () => boom() },
      { limit: 'Fleet', share },
    ];
    for (const use of limits) {
      const app = await start(framework, { limits: [{ limiter, limits: [use, 'PerUser'] }] });
      expect(await app.statuses(3, '/', as(`user-${limits.indexOf(use)}`))).toEqual([418, 418, 429]);
    }
  });

  test('a cost that does not fit into the share of a request is a 400 for the error handler', async () => {
    const limiter = stillLimiter({ limits: fleet() });
    const app = await start(framework, {
      limits: [{ limiter, limits: [{ limit: 'Fleet', share: () => 0.4, cost: 5 }] }],
    });
    expect((await app.get()).status).toBe(400);
    expect(app.errors).toMatchObject([{ code: 'ERR_COST_OVER_BURST', message: expect.stringContaining('at most 4') }]);
  });

  const use = (more: object): Options => ({
    limiter: stillLimiter({ limits: fleet(), overrides: { Fleet: { small: { count: 5, period: '100s' } } } }),
    limits: [{ limit: 'Fleet', ...more }],
  });

  test.each<[what: string, use: object, code: string, says: string]>([
    ['a share of 0', { share: 0 }, 'ERR_OPTION', 'a number above 0, at most 1, but was 0'],
    ['a share above 1', { share: 80 }, 'ERR_OPTION', 'at most 1, but was 80'],
    ['a share that is a text', { share: '80%' }, 'ERR_OPTION', "but was '80%'"],
    ['a share of a charge', { share: 0.8, mode: 'charge' }, 'ERR_OPTION', "left out with mode 'charge'"],
    ['a share function of a charge', { share: () => 0.8, mode: 'charge' }, 'ERR_OPTION', "left out with mode 'charge'"],
    ['a fixed cost above the share', { share: 0.8, cost: 5 }, 'ERR_COST_OVER_BURST', 'at most 4'],
    ['a share without room for a token', { share: 0.1 }, 'ERR_COST_OVER_BURST', 'at most 0'],
  ])('%s is an error when the limits are made', (_what, more, code, says) => {
    expect(() => framework.make(use(more))).toThrow(
      expect.objectContaining({ code, status: 500, message: expect.stringContaining(says) }),
    );
  });

  test.each([{ share: 1, mode: 'charge' }, { share: 0.8, cost: 4 }, { share: 0.1, cost: () => 5 }, { share: () => 0 }])(
    'limits are made with %o',
    (more) => {
      expect(() => framework.make(use(more))).not.toThrow();
    },
  );
}

function boom(): never {
  throw Object.assign(new Error('boom'), { status: 418, statusCode: 418 });
}
