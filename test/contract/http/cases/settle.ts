import type { Limiter, LimiterEvent, Store } from '@sluice/core';
import { expect, onTestFinished, test } from 'vitest';
import type { Framework, Handler, NativeRequest, Options } from '../framework.ts';
import { as, hashedUserKey, heldStore, lateStore, stillLimiter, timed, userKey } from '../limiters.ts';
import { start } from '../start.ts';
import { sized } from '../../../sized.ts';

/** The true cost, known after the response. */
export function settleCases(framework: Framework): void {
  const withLimit = (events: LimiterEvent[] = [], store: Store = timed().store): Limiter<NativeRequest> =>
    stillLimiter({
      limits: { PerUser: { key: userKey, count: 5, period: '1h' } },
      store,
      onEvent: (event) => events.push(event),
    });
  const remaining = async (limiter: Limiter<NativeRequest>): Promise<number> =>
    (await limiter.check([{ limit: 'PerUser', id: 'ann' }])).remaining;
  const failed = framework.settle((status) => (status === 401 ? 1 : 0));
  const login: Handler = ({ incoming, status }) => {
    if (incoming.headers['x-password'] === 'right') return 'welcome';
    status(401);
    return 'wrong';
  };
  const wrong = as('ann');
  const right = as('ann', { 'X-Password': 'right' });

  test.each(['check-only', 'check-and-spend'] as const)('only failed logins count: %s', async (mode) => {
    const limits = [{ limiter: withLimit(), limits: [{ limit: 'PerUser', mode, settle: failed }] }] as Options[];
    const app = await start(framework, { routes: { '/': { limits, handle: login } } });
    expect(await app.statuses(8, '/', right)).toEqual(Array(8).fill(200));
    expect(await app.statuses(4, '/', wrong)).toEqual(Array(4).fill(401));
    expect(await app.statuses(3, '/', right)).toEqual(Array(3).fill(200));
    expect(await app.statuses(2, '/', wrong)).toEqual([401, 429]);
    expect(await app.statuses(1, '/', right)).toEqual([429]);
  });

  test.each(['check-only', 'check-and-spend'] as const)(
    'failed logins count in the bucket they were decided in, also when the id of an id is another one: %s',
    async (mode) => {
      const limiter = stillLimiter({ limits: { PerUser: { key: hashedUserKey, count: 3, period: '1h' } } });
      const settle = framework.settle((status) => (status === 401 ? 3 : 0));
      const limits = [{ limiter, limits: [{ limit: 'PerUser', mode, settle }] }] as Options[];
      const app = await start(framework, { routes: { '/': { limits, handle: login } } });
      expect(await app.statuses(2, '/', wrong)).toEqual([401, 429]);
      expect((await app.get('/', as('bob'))).status).toBe(401);
    },
  );

  test('a denial reports how many tokens of requests in progress may come back before its wait is over', async () => {
    const limiter = withLimit();
    const limits = [{ limiter, limits: [{ limit: 'PerUser', settle: failed }] }] as Options[];
    let arrived = 0;
    let open = (): void => undefined;
    const opened = new Promise<void>((resolve) => (open = resolve));
    const app = await start(framework, {
      routes: {
        '/': {
          limits,
          async handle(context) {
            arrived++;
            if (context.incoming.headers['x-password'] === 'right') await opened;
            return login(context);
          },
        },
      },
    });
    const detailOf = async (): Promise<unknown> =>
      (JSON.parse((await app.get('/', wrong)).body) as { detail: unknown }).detail;
    expect(await app.statuses(2, '/', wrong)).toEqual([401, 401]);
    const waiting = Array.from({ length: 3 }, () => app.get('/', right));
    await expect.poll(() => arrived).toBe(5);
    const exceeded = 'Rate limit "PerUser" exceeded. Try again in 12 min.';
    expect(await detailOf()).toBe(`${exceeded} Up to 3 tokens may come back sooner.`);
    open();
    expect((await Promise.all(waiting)).map(({ status }) => status)).toEqual([200, 200, 200]);
    await expect.poll(() => remaining(limiter)).toBe(3);
    expect(await app.statuses(4, '/', wrong)).toEqual([401, 401, 401, 429]);
    expect(await detailOf()).toBe(exceeded);
  });

  test('twenty parallel logins that all succeed pass a limit of five failed ones', async () => {
    const limits = [{ limiter: withLimit(), limits: [{ limit: 'PerUser', mode: 'check-only', settle: failed }] }];
    let arrived = 0;
    let open = (): void => undefined;
    const everyone = new Promise<void>((resolve) => (open = resolve));
    const app = await start(framework, {
      routes: {
        '/': {
          limits: limits as Options[],
          async handle(context) {
            if (++arrived === 20) open();
            await everyone;
            return login(context);
          },
        },
      },
    });
    const answers = await Promise.all(Array.from({ length: 20 }, () => app.get('/', right)));
    expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(200));
  });

  test.each([
    { trueCost: 0, left: 5 },
    { trueCost: 1, left: 4 },
    { trueCost: 3, left: 2 },
    { trueCost: 4, left: 1 },
    { trueCost: 99, left: 0 },
  ])('a request that took 3 of 5 and cost $trueCost leaves $left', async ({ trueCost, left }) => {
    const limiter = withLimit();
    const settle = framework.settle(async () => trueCost);
    const app = await start(framework, {
      limits: [{ limiter, limits: [{ limit: 'PerUser', cost: 3, settle }] }] as Options[],
      routes: { '/': { handle: async () => `${await remaining(limiter)}` } },
    });
    expect((await app.get('/', wrong)).body).toBe('2');
    await expect.poll(() => remaining(limiter)).toBe(left);
  });

  test.each([
    { mode: 'check-and-spend', cost: 3 },
    { mode: 'check-only', cost: 0 },
  ] as const)('a true cost above what is left leaves a debt of at most maxDebt: %o', async ({ mode, cost }) => {
    const limiter = stillLimiter({ limits: { PerUser: { key: userKey, count: 5, period: '50s', maxDebt: 4 } } });
    const settle = framework.settle(() => 99);
    const app = await start(framework, { limits: [{ limiter, limits: [{ limit: 'PerUser', cost, mode, settle }] }] });
    expect((await app.get('/', wrong)).status).toBe(200);
    const inDebt = async () => await limiter.check([{ limit: 'PerUser', id: 'ann' }]);
    await expect.poll(inDebt).toMatchObject({ remaining: 0, retryAfterMs: 50_000, resetAfterMs: 90_000 });
    const denied = framework.settle(() => 0);
    const next = await start(framework, { limits: [{ limiter, limits: [{ limit: 'PerUser', settle: denied }] }] });
    expect(await next.get('/', wrong)).toMatchObject({ status: 429, headers: { 'retry-after': '50' } });
    expect((await next.get('/', as('bob'))).status).toBe(200);
  });

  test('a store that answers later is settled too', async () => {
    const limiter = withLimit([], lateStore());
    const limits = [{ limiter, limits: [{ limit: 'PerUser', cost: 3, settle: framework.settle(() => 1) }] }];
    const app = await start(framework, { limits: limits });
    expect((await app.get('/', wrong)).status).toBe(200);
    await expect.poll(() => remaining(limiter)).toBe(4);
  });

  test('settle is called once for each request that was let through, and never for a denied one', async () => {
    let calls = 0;
    const settle = framework.settle(() => (calls++, 5));
    const limits = [{ limiter: withLimit(), limits: [{ limit: 'PerUser', settle }] }] as Options[];
    const app = await start(framework, { limits });
    expect(await app.statuses(3, '/', wrong)).toEqual([200, 429, 429]);
    expect(calls).toBe(1);
  });

  test.skipIf(framework.ignoresHead)('a response without a body is settled too', async () => {
    const limiter = withLimit();
    const app = await start(framework, {
      limits: [{ limiter, limits: [{ limit: 'PerUser', cost: 3, settle: framework.settle(() => 1) }] }] as Options[],
    });
    expect((await app.get('/', { ...wrong, method: 'HEAD' })).status).toBe(200);
    await expect.poll(() => remaining(limiter)).toBe(4);
  });

  test('a limit that does not apply to the request is not settled', async () => {
    let calls = 0;
    const settle = framework.settle(() => (calls++, 1));
    const app = await start(framework, {
      limits: [{ limiter: withLimit(), limits: [{ limit: 'PerUser', settle }] }] as Options[],
    });
    expect((await app.get()).status).toBe(200);
    expect(calls).toBe(0);
  });

  test('a handler that fails is settled by the status of its answer', async () => {
    const limiter = withLimit();
    const settle = framework.settle((status) => (status === 500 ? 2 : 0));
    const limits = [{ limiter, limits: [{ limit: 'PerUser', mode: 'check-only', settle }] }] as Options[];
    const app = await start(framework, {
      limits,
      routes: { '/': { handle: () => Promise.reject(new Error('boom')) } },
    });
    expect((await app.get('/', wrong)).status).toBe(500);
    await expect.poll(() => remaining(limiter)).toBe(3);
  });

  test.each([
    { mode: 'check-and-spend', refunds: false, left: 3 },
    { mode: 'check-only', refunds: false, left: 3 },
    { mode: 'check-and-spend', refunds: true, left: 5 },
  ] as const)(
    'a client that goes away: the full cost stays, once: $mode, refunded $refunds',
    async ({ mode, refunds, left }) => {
      const limiter = withLimit();
      let asked = 0;
      const settle = framework.settle(() => (asked++, 0));
      let gone: Promise<unknown> = Promise.resolve();
      const app = await start(framework, {
        limits: [{ limiter, limits: [{ limit: 'PerUser', cost: 2, mode, settle }] }] as Options[],
        routes: {
          '/': {
            async handle({ outgoing, decision }) {
              if (refunds) await decision!.refund();
              gone = new Promise((resolve) => outgoing.once('close', resolve));
              visit.leave();
              await gone;
              return 'too late';
            },
          },
        },
      });
      const visit = app.visit('/', wrong);
      await visit.left;
      await expect.poll(() => gone).toBeUndefined();
      await new Promise((resolve) => setImmediate(resolve));
      await expect.poll(() => remaining(limiter)).toBe(left);
      await new Promise((resolve) => setImmediate(resolve));
      expect(await remaining(limiter)).toBe(left);
      expect(asked).toBe(0);
    },
  );

  test('of many requests that their client resets, of cost 10 on a burst of 20, 2 have their work done', async () => {
    const limiter = stillLimiter({ limits: { PerUser: { key: userKey, burst: 20, count: 1, period: '1h' } } });
    const settle = framework.settle(() => 0);
    let worked = 0;
    let done = (): void => undefined;
    let over: Promise<unknown> = Promise.resolve();
    const app = await start(framework, {
      before: ({ outgoing }) => void (over = new Promise((resolve) => outgoing.once('close', resolve))),
      limits: [{ limiter, limits: [{ limit: 'PerUser', cost: 10, settle }] }] as Options[],
      routes: {
        '/': {
          async handle() {
            worked++;
            done();
            await over;
            return 'too late';
          },
        },
      },
    });
    for (let i = 0; i < sized(30, 200); i++) {
      const visit = app.visit('/', wrong);
      await Promise.race([visit.answer, new Promise<void>((resolve) => (done = resolve))]);
      visit.leave();
      await over;
      // What is given back is given back by now.
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(worked).toBe(2);
    expect(await remaining(limiter)).toBe(0);
  });

  test('a response that was complete before the store has answered is settled as one that was finished', async () => {
    const { store, arrived, release } = heldStore();
    const limiter = stillLimiter({
      limits: { PerUser: { key: userKey, count: 5, period: '1h' } },
      store,
      failure: { deadlineMs: 5000 },
    });
    const ends: unknown[] = [];
    const settle = framework.settle((_status, end) => (ends.push(end), 1));
    let finish = (): unknown => undefined;
    const app = await start(framework, {
      before: ({ outgoing }) => void (finish = () => outgoing.end('first')),
      limits: [{ limiter, limits: [{ limit: 'PerUser', cost: 3, settle }] }] as Options[],
      routes: { '/': { handle: () => undefined } },
    });
    const visit = app.visit('/', wrong);
    await expect.poll(arrived).toBe(1);
    finish();
    expect((await visit.answer).body).toBe('first');
    await visit.left;
    release();
    await expect.poll(() => remaining(limiter)).toBe(4);
    expect(ends).toEqual([{ finished: true }]);
  });

  test('a client that has left before the store has answered: the full cost stays', async () => {
    const { store, arrived, release } = heldStore();
    const limiter = stillLimiter({
      limits: { PerUser: { key: userKey, count: 5, period: '1h' } },
      store,
      failure: { deadlineMs: 5000 },
    });
    const settle = framework.settle(() => 0);
    let closed = false;
    const app = await start(framework, {
      before: ({ outgoing }) => void outgoing.once('close', () => (closed = true)),
      limits: [{ limiter, limits: [{ limit: 'PerUser', cost: 2, mode: 'check-only', settle }] }] as Options[],
    });
    const visit = app.visit('/', wrong);
    await expect.poll(arrived).toBe(1);
    visit.leave();
    await expect.poll(() => closed).toBe(true);
    release();
    await expect.poll(() => remaining(limiter)).toBe(3);
  });

  test.each([
    ['throws', () => { throw new Error('boom'); }], // prettier-ignore
    ['rejects', () => Promise.reject(new Error('boom'))],
    ['gives NaN', () => NaN],
    ['gives nothing', () => undefined as never],
    ['gives a negative cost', () => -1],
  ])('a settle that %s: the full cost stays, and there is an event', async (_how, trueCost) => {
    const events: LimiterEvent[] = [];
    const limiter = withLimit(events);
    const app = await start(framework, {
      limits: [{ limiter, limits: [{ limit: 'PerUser', cost: 2, settle: framework.settle(trueCost) }] }] as Options[],
    });
    expect((await app.get('/', wrong)).status).toBe(200);
    await expect.poll(() => events).toMatchObject([{ type: 'callback-failed', callback: 'settle' }]);
    expect(await remaining(limiter)).toBe(3);
  });

  test('a limiter that is closed before the response is over leaves no rejection unhandled', async () => {
    const events: LimiterEvent[] = [];
    const limiter = withLimit(events);
    const app = await start(framework, {
      limits: [{ limiter, limits: [{ limit: 'PerUser', settle: framework.settle(() => 3) }] }] as Options[],
      routes: {
        '/': {
          async handle() {
            await limiter.close();
            return 'ok';
          },
        },
      },
    });
    expect((await app.get('/', wrong)).status).toBe(200);
    await expect
      .poll(() => events)
      .toMatchObject([{ type: 'callback-failed', callback: 'settle', cause: { code: 'ERR_CLOSED' } }]);
  });

  test('limits of one request are settled each by its own function', async () => {
    const limiter = stillLimiter({
      limits: { A: { key: userKey, count: 9, period: '1h' }, B: { key: userKey, count: 9, period: '1h' } },
    });
    const uses = [
      { limit: 'A', cost: 5, settle: framework.settle(() => 1) },
      { limit: 'B', cost: 5, settle: framework.settle(() => 7) },
    ];
    const app = await start(framework, { limits: [{ limiter, limits: uses }] as Options[] });
    await app.get('/', wrong);
    const left = async (): Promise<number[]> =>
      (await limiter.check(['A', 'B'].map((limit) => ({ limit, id: 'ann' })))).results.map(
        (result) => result.remaining,
      );
    await expect.poll(left).toEqual([8, 2]);
  });

  test('twelve limits of one request are settled, and make Node warn of nothing', async () => {
    const warnings: Error[] = [];
    const note = (warning: Error): void => void warnings.push(warning);
    process.on('warning', note);
    onTestFinished(() => void process.off('warning', note));
    const names = Array.from({ length: 12 }, (_, i) => `Limit${i}`);
    const numbers = { key: userKey, count: 9, period: '1h' };
    const limiter = stillLimiter({ limits: Object.fromEntries(names.map((limit) => [limit, numbers])) });
    const settle = framework.settle(() => 4);
    const uses = names.map((limit) => ({ limit, settle }));
    // Two middlewares on one response.
    const limits = [uses.slice(0, 7), uses.slice(7)].map((some) => ({ limiter, limits: some })) as Options[];
    const app = await start(framework, { limits });
    expect((await app.get('/', wrong)).status).toBe(200);
    const left = async (): Promise<Set<number>> =>
      new Set(
        (await limiter.check(names.map((limit) => ({ limit, id: 'ann' })))).results.map((each) => each.remaining),
      );
    await expect.poll(left).toEqual(new Set([5]));
    expect(warnings).toEqual([]);
  });

  test('a request that is not enforced is settled as if it were', async () => {
    const limiter = withLimit();
    const settle = framework.settle(() => 4);
    const app = await start(framework, {
      limits: [{ limiter, shadow: true, limits: [{ limit: 'PerUser', settle }] }] as Options[],
    });
    await app.get('/', wrong);
    await expect.poll(() => remaining(limiter)).toBe(1);
  });
}
