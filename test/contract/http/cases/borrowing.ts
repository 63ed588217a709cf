import { everyone, type Decision, type Limiter } from '@sluice/core';
import { borrow as borrowLimit } from '@sluice/core/borrow';
import type { FakeTime } from '@sluice/core/testing';
import { describe, expect, test } from 'vitest';
import type { Framework, NativeRequest, Options } from '../framework.ts';
import { as, stillLimiter, timed, userKey } from '../limiters.ts';
import { start } from '../start.ts';

/** Limits that borrow from a pool when their own tokens are used up. */
export function borrowingCases(framework: Framework): void {
  /** 2 tokens are assured, one comes back in 10 s; the pool has 4, one comes back in 5 s; a client gets at most 4. */
  function borrowing(): { limiter: Limiter<NativeRequest>; time: FakeTime } {
    const { store, time } = timed();
    const ceiling = { burst: 4, count: 1, period: '5s' } as const;
    const limits = {
      PerUser: borrowLimit({
        key: userKey,
        burst: 2,
        count: 1,
        period: '10s',
        borrow: { from: 'Pool', ceiling, fair: false },
      }),
      Pool: { key: everyone(), burst: 4, count: 1, period: '5s' },
      Other: { key: userKey, count: 9, period: '1h' },
    };
    return { limiter: stillLimiter({ limits, store, time }), time };
  }
  const perUser = (limiter: Limiter<NativeRequest>, more: object = {}): Options[] =>
    [{ limiter, limits: ['PerUser'], ...more }] as Options[];
  const left = async (limiter: Limiter<NativeRequest>) => {
    const [own] = (await limiter.check([{ limit: 'PerUser', id: 'ann', cost: 0 }])).results;
    const [pool] = (await limiter.check([{ limit: 'Pool', id: 'everyone', cost: 0 }])).results;
    return [own?.remaining, pool?.remaining];
  };

  test('a client without own tokens borrows from the pool, and the fields report its own bucket', async () => {
    const { limiter } = borrowing();
    const app = await start(framework, { limits: perUser(limiter) });
    const answers = [];
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    for (let i = 0; i < 5; i++) answers.push(await app.get('/', as('ann')));
    expect(answers.map(({ status, headers }) => [status, headers.ratelimit])).toEqual([
      [200, '"PerUser";r=1;t=10'],
      [200, '"PerUser";r=0;t=10'],
      [200, '"PerUser";r=0;t=10'],
      [200, '"PerUser";r=0;t=10'],
      [429, '"PerUser";r=0;t=10'],
    ]);
    expect(answers[4]!.headers['ratelimit-policy']).toBe('"PerUser";q=2;w=20');
    expect((await app.get('/', as('bob'))).status).toBe(200);
  });

  test('a middleware with a limit of its own borrows from a pool of its own', async () => {
    const { time } = timed();
    const ceiling = { burst: 4, count: 1, period: '5s' } as const;
    const borrow = { from: { burst: 4, count: 1, period: '5s' }, ceiling, fair: false };
    const numbers = { key: userKey, burst: 2, count: 1, period: '10s' } as const;
    const app = await start(framework, { limits: [{ limit: borrowLimit({ ...numbers, borrow }), time }] });
    expect(await app.statuses(5, '/', as('ann'))).toEqual([200, 200, 200, 200, 429]);
    expect(await app.statuses(3, '/', as('bob'))).toEqual([200, 200, 429]);
    expect((await app.get('/', as('cid'))).headers['ratelimit-policy']).toBe('"default";q=2;w=20');
    const wrong = (from: unknown): unknown =>
      framework.make({ limit: borrowLimit({ ...numbers, borrow: { ...borrow, from: from as never } }) });
    expect(() => wrong('Pool')).toThrow(
      /`rateLimit\.limit\.borrow\.from` must be the numbers of a pool, but was 'Pool'/,
    );
    expect(() => wrong({ count: 0, period: '5s' })).toThrow(/`rateLimit\.limit\.borrow\.from\.count` must be/);
  });

  test('a client is allowed after the shorter of two waits', async () => {
    const { limiter, time } = borrowing();
    const app = await start(framework, { limits: perUser(limiter) });
    expect(await app.statuses(4, '/', as('ann'))).toEqual([200, 200, 200, 200]);
    const { headers } = await app.get('/', as('ann'));
    expect(headers['retry-after']).toBe('5');
    time.advance(4999);
    expect(await app.statuses(1, '/', as('ann'))).toEqual([429]);
    time.advance(1);
    expect(await app.statuses(2, '/', as('ann'))).toEqual([200, 429]);
  });

  test('a client has its own tokens also when others have emptied the pool', async () => {
    const { limiter } = borrowing();
    await limiter.charge([{ limit: 'Pool', id: 'everyone', cost: 4 }]);
    const app = await start(framework, { limits: perUser(limiter) });
    expect(await app.statuses(3, '/', as('ann'))).toEqual([200, 200, 429]);
    expect(await app.statuses(3, '/', as('bob'))).toEqual([200, 200, 429]);
  });

  test.each([
    ['draft-7', 'ratelimit-policy', '2;w=20, 9;w=3600'],
    ['draft-6', 'ratelimit-policy', '2;w=20, 9;w=3600'],
    ['draft-11', 'ratelimit-policy', '"PerUser";q=2;w=20, "Other";q=9;w=3600'],
  ] as const)('the dialect %s names neither the ceiling nor the pool', async (fields, name, value) => {
    const { limiter } = borrowing();
    const limits = perUser(limiter, { limits: ['PerUser', 'Other'], fields });
    const app = await start(framework, { limits });
    expect((await app.get('/', as('ann'))).headers[name]).toBe(value);
  });

  test('the decision for the handler and onDecision shows what was borrowed', async () => {
    const { limiter } = borrowing();
    const decisions: Decision[] = [];
    const app = await start(framework, {
      routes: {
        '/': {
          limits: perUser(limiter, { onDecision: (decision: Decision) => decisions.push(decision) }),
          handle: ({ decision }) => String(decision!.results.map(({ borrowed }) => borrowed)),
        },
      },
    });
    const bodies = [];
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    for (let i = 0; i < 3; i++) bodies.push((await app.get('/', as('ann'))).body);
    expect(bodies).toEqual(['false', 'false', 'true']);
    expect(decisions.map(({ results }) => results[0]?.borrowed)).toEqual([false, false, true]);
  });

  test('all limits of a request take their tokens, or none does', async () => {
    const { limiter } = borrowing();
    const limits = perUser(limiter, { limits: ['PerUser', { limit: 'Other', cost: 5 }] });
    const app = await start(framework, { limits });
    expect(await app.statuses(3, '/', as('ann'))).toEqual([200, 429, 429]);
    expect(await left(limiter)).toEqual([1, 3]);
  });

  test('shadow: every request passes, and takes what it would take without shadow', async () => {
    const { limiter } = borrowing();
    const app = await start(framework, { limits: perUser(limiter, { shadow: true }) });
    expect(await app.statuses(6, '/', as('ann'))).toEqual(Array(6).fill(200));
    expect(await left(limiter)).toEqual([0, 0]);
  });

  test('a refund by the handler gives borrowed tokens back to the pool, and own tokens to the client', async () => {
    const { limiter } = borrowing();
    const app = await start(framework, {
      routes: {
        '/': {
          limits: perUser(limiter),
          async handle({ incoming, decision }) {
            if (incoming.headers['x-refund'] !== undefined) await decision!.refund();
            return 'ok';
          },
        },
      },
    });
    await app.get('/', as('ann', { 'X-Refund': '1' }));
    expect(await left(limiter)).toEqual([2, 4]);
    expect(await app.statuses(2, '/', as('ann'))).toEqual([200, 200]);
    await app.get('/', as('ann', { 'X-Refund': '1' }));
    expect(await left(limiter)).toEqual([0, 2]);
  });

  test('a charge by the handler takes from all buckets of a limit', async () => {
    const { limiter } = borrowing();
    const app = await start(framework, {
      routes: {
        '/': {
          limits: perUser(limiter),
          async handle({ decision }) {
            await decision!.charge(1);
            return 'ok';
          },
        },
      },
    });
    expect(await app.statuses(3, '/', as('ann'))).toEqual([200, 200, 429]);
    expect(await left(limiter)).toEqual([0, 0]);
  });

  describe.each(['check-and-spend', 'check-only'] as const)('settle, with mode %s,', (mode) => {
    test.each([
      [0, [2, 4]],
      [1, [1, 3]],
      [2, [0, 2]],
      [3, [0, 1]],
    ])('takes the true cost from its own bucket and from the pool: %i', async (cost, expected) => {
      const { limiter } = borrowing();
      const settle = framework.settle(() => cost);
      const limits = perUser(limiter, { limits: [{ limit: 'PerUser', mode, settle }] });
      const app = await start(framework, { limits });
      expect((await app.get('/', as('ann'))).status).toBe(200);
      await expect.poll(() => left(limiter)).toEqual(expected);
    });
  });

  test('settle gives back to the pool what was borrowed above the true cost', async () => {
    const { limiter } = borrowing();
    await limiter.spend([{ limit: 'PerUser', id: 'ann', cost: 2 }]);
    const settle = framework.settle(() => 1);
    const limits = perUser(limiter, { limits: [{ limit: 'PerUser', cost: 2, settle }] });
    const app = await start(framework, { limits });
    expect((await app.get('/', as('ann'))).status).toBe(200);
    await expect.poll(() => left(limiter)).toEqual([0, 1]);
  });

  test.each([
    [['PerUser', 'Pool'], 'ERR_DUPLICATE_BUCKET', 'Leave out "Pool"'],
    [[{ limit: 'PerUser', mode: 'spend-only' }], 'ERR_OPTION', 'because the limit borrows'],
  ])('a middleware that can never decide is an error when it is made: %j', (limits, code, message) => {
    const make = (): unknown => framework.make({ limiter: borrowing().limiter, limits });
    expect(make).toThrow(expect.objectContaining({ code, message: expect.stringContaining(message) }));
  });
}
