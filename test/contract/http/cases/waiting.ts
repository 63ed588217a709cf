import { accountId, type Decision, type LimitDefinition, type Rate } from '@sluice/core';
import { expect, test } from 'vitest';
import type { Framework, NativeRequest, Options } from '../framework.ts';
import { as, brokenStore, lateStore, stillLimiter, timed, userKey, userOf } from '../limiters.ts';
import { start } from '../start.ts';
import { callsOf } from '@sluice/core/testing';

const QUEUE = { burst: 1, count: 10, period: '1s', maxWait: '250ms' };

/** Requests that wait for their turn. */
export function waitingCases(framework: Framework): void {
  interface Setup {
    readonly isLate?: boolean;
    readonly queue?: Partial<Rate>;
    readonly more?: Record<string, LimitDefinition<NativeRequest>>;
    readonly options?: Partial<Options>;
    readonly limits?: readonly unknown[];
  }

  /** An application with one queue for all requests, whose handler records the users in their order. */
  async function served({ isLate = false, queue = {}, more = {}, options = {}, limits = ['Queue'] }: Setup = {}) {
    const { time, store } = timed();
    const all = { Queue: { key: accountId(() => 'backend'), ...QUEUE, ...queue }, ...more };
    const limiter = stillLimiter({ limits: all, store: isLate ? lateStore(store) : store, time });
    const decisions: Decision[] = [];
    const handled: (string | null)[] = [];
    const app = await start(framework, {
      limits: [{ limiter, limits, onDecision: (decision: Decision) => decisions.push(decision), ...options }] as never,
      routes: {
        '/': {
          handle({ incoming, decision }) {
            handled.push(userOf(incoming));
            return `${decision?.delayMs}`;
          },
        },
      },
    });
    /** Sends the request of a user, and waits until it is decided. */
    const decide = async (user: string) => {
      const visit = app.visit('/', as(user));
      const before = decisions.length;
      await expect.poll(() => decisions.length).toBe(before + 1);
      return visit;
    };
    /** The level of the queue's bucket, in milliseconds. */
    const level = async () => (await limiter.check([{ limit: 'Queue', id: 'backend', cost: 0 }])).resetAfterMs;
    return { app, limiter, time, decisions, handled, decide, level };
  }

  const turn = () => new Promise((resolve) => setImmediate(resolve));

  test.each([false, true])(
    'a request is held until its tokens are there, not a microsecond less (late store: %s)',
    async (isLate) => {
      const { time, handled, decide } = await served({ isLate });
      expect(await (await decide('a')).answer).toMatchObject({ status: 200, body: '0' });
      const held = await decide('b');
      time.advance(99.999);
      await turn();
      expect(handled).toEqual(['a']);
      time.advance(0.001);
      expect(await held.answer).toMatchObject({ status: 200, body: '100' });
      expect(time.pending).toBe(0);
    },
  );

  test('requests continue in the order in which they came, one every T', async () => {
    const { time, handled, decide } = await served();
    const visits = [await decide('a'), await decide('b'), await decide('c')];
    for (const users of [['a'], ['a', 'b'], ['a', 'b', 'c']]) {
      await expect.poll(() => handled).toEqual(users);
      time.advance(100);
    }
    const bodies = await Promise.all(visits.map(({ answer }) => answer.then(({ body }) => body)));
    expect(bodies).toEqual(['0', '100', '200']);
  });

  test('a request that would wait longer than maxWait is denied, with the time until it fits into the queue', async () => {
    const { time, decide } = await served({ queue: { count: 1, period: '10s', maxWait: '15s' } });
    const [, held, denied] = [await decide('a'), await decide('b'), await decide('c')];
    const { status, headers } = await denied.answer;
    expect(status).toBe(429);
    expect(headers['retry-after']).toBe('5');
    expect(headers.ratelimit).toBe('"Queue";r=0;t=20');
    time.advance(5_000);
    const next = await decide('d');
    time.advance(15_000);
    expect([(await held.answer).status, (await next.answer).status]).toEqual([200, 200]);
  });

  test.each([
    ['draft-11', 'ratelimit', '"Queue";r=0;t=10'],
    ['draft-7', 'ratelimit', 'limit=1, remaining=0, reset=10'],
    ['draft-6', 'ratelimit-reset', '10'],
    ['legacy', 'x-ratelimit-reset', '20'],
  ] as const)('the fields of a held request are those of its turn: %s', async (fields, name, value) => {
    const queue = { count: 1, period: '10s', maxWait: '20s' };
    const { time, decide } = await served({ queue, options: { fields } });
    await decide('a');
    const held = await decide('b');
    time.advance(10_000);
    expect((await held.answer).headers[name]).toBe(value);
  });

  test('the fields of a limit beside the queue are those of the turn too', async () => {
    const more = { Calm: { key: userKey, burst: 5, count: 1, period: '10s' } };
    const queue = { count: 1, period: '10s', maxWait: '20s' };
    const { time, decide } = await served({ queue, more, limits: ['Queue', 'Calm'] });
    await decide('a');
    const held = await decide('b');
    time.advance(10_000);
    expect((await held.answer).headers.ratelimit).toBe('"Queue";r=0;t=10, "Calm";r=5');
  });

  test.each([
    ['draft-11', 'ratelimit', '"Queue";r=0;t=20'],
    ['draft-7', 'ratelimit', 'limit=1, remaining=0, reset=20'],
  ] as const)(
    'the fields of a request that is not held, because of bad input, are those of now: %s',
    async (...row) => {
      const [fields, name, value] = row;
      const fails = (): never => {
        throw Object.assign(new Error('bad input'), { status: 418, statusCode: 418 });
      };
      const more = { Bad: { key: accountId(fails), count: 5, period: '1s' } };
      const queue = { count: 1, period: '10s', maxWait: '20s' };
      const { app, limiter } = await served({ queue, more, options: { fields }, limits: ['Queue', 'Bad'] });
      await limiter.spend([{ limit: 'Queue', id: 'backend' }]);
      const { status, headers } = await app.get('/', as('b'));
      expect([status, headers[name]]).toEqual([418, value]);
    },
  );

  test('a client that leaves while it is held gives its tokens back, and its request is not handled', async () => {
    const { app, time, handled, decide, level } = await served();
    await decide('a');
    const held = await decide('b');
    expect(await level()).toBe(200);
    held.leave();
    await expect.poll(level).toBe(100);
    expect(time.pending).toBe(0);
    time.advance(1000);
    await turn();
    expect(handled).toEqual(['a']);
    expect(app.errors.filter((error) => (error as { code?: string }).code !== 'ECONNRESET')).toEqual([]);
  });

  test('a client that leaves does not change the turns of those behind it', async () => {
    const { time, handled, decide, level } = await served({ queue: { maxWait: '1s' } });
    const [, leaving, behind] = [await decide('a'), await decide('b'), await decide('c')];
    leaving.leave();
    await leaving.left;
    await turn();
    const last = await decide('d');
    time.advance(200);
    await behind.answer;
    expect(handled).toEqual(['a', 'c']);
    expect(await level()).toBe(200);
    time.advance(100);
    expect(await last.answer).toMatchObject({ body: '300' });
  });

  test('settle is called only for requests that were handled', async () => {
    const settled: number[] = [];
    const settle = framework.settle((status) => (settled.push(status), 1));
    const { time, decide, level } = await served({ limits: [{ limit: 'Queue', settle, settleAborted: true }] });
    await decide('a');
    const held = await decide('b');
    await expect.poll(() => settled).toEqual([200]);
    held.leave();
    await expect.poll(level).toBe(100);
    const next = await decide('c');
    time.advance(100);
    await next.answer;
    await expect.poll(() => settled).toEqual([200, 200]);
  });

  test('a limiter that closes answers held requests at once with 503, and gives their tokens back', async () => {
    const { limiter, time, handled, decide } = await served();
    const [, first, second] = [await decide('a'), await decide('b'), await decide('c')];
    const { store } = limiter;
    await limiter.close();
    for (const { answer } of [first, second]) {
      const { status, headers, body } = await answer;
      expect(status).toBe(503);
      expect(headers['retry-after']).toBe('1');
      expect(headers.ratelimit).toBeUndefined();
      expect(JSON.parse(body)).toMatchObject({
        type: 'https://iana.org/assignments/http-problem-types#temporary-reduced-capacity',
        status: 503,
      });
    }
    const look = { incrementTicks: 0, fitTicks: 0, capTicks: 0, mode: 'check-only' } as const;
    const { levelsTicks } = await callsOf(store).check([{ limit: 'Queue', id: 'backend', ...look }]);
    expect(levelsTicks).toEqual([100 * 16_000]);
    expect({ handled, pending: time.pending }).toEqual({ handled: ['a'], pending: 0 });
  });

  test('an answer of your own to a held request of a limiter that closes gets an unavailable decision', async () => {
    const onDenied = framework.onDenied((context, { outcome, failure }) => {
      context.status(503);
      return `${outcome} ${failure!.policy} ${(failure!.cause as { code?: string }).code}`;
    });
    const { limiter, decide } = await served({ options: { onDenied } });
    await decide('a');
    const held = await decide('b');
    await limiter.close();
    expect(await held.answer).toMatchObject({ status: 503, body: 'unavailable closed ERR_CLOSED' });
  });

  test('while maxQueued requests wait, a request that needs a delay is denied', async () => {
    const { time, decide } = await served({ options: { maxQueued: 1 } });
    await decide('a');
    const held = await decide('b');
    const denied = await (await decide('c')).answer;
    expect(denied.status).toBe(429);
    expect(denied.headers['retry-after']).toBe('1');
    time.advance(100);
    expect((await held.answer).status).toBe(200);
    time.advance(100);
    expect(await (await decide('d')).answer).toMatchObject({ status: 200, body: '0' });
  });

  test('a place is free again when its request was handled, has left or was denied', async () => {
    const { time, decide, level } = await served({ options: { maxQueued: 1 } });
    await decide('a');
    for (let round = 0; round < 3; round++) {
      const leaving = await decide('b');
      leaving.leave();
      await expect.poll(level).toBe(100);
      const held = await decide('c');
      expect((await (await decide('d')).answer).status).toBe(429);
      time.advance(100);
      expect(await held.answer).toMatchObject({ body: '100' });
    }
  });

  test('with maxQueued: 0, no request is held', async () => {
    const { decide } = await served({ options: { maxQueued: 0 } });
    const statuses: number[] = [];
    for (const user of ['a', 'b']) statuses.push((await (await decide(user)).answer).status);
    expect(statuses).toEqual([200, 429]);
  });

  test('in shadow mode no request is held, also when the queue is full', async () => {
    const { decide, decisions } = await served({ options: { shadow: true, maxQueued: 0 } });
    for (const user of ['a', 'b', 'c', 'd']) expect((await (await decide(user)).answer).status).toBe(200);
    expect(decisions.map(({ outcome, delayMs }) => [outcome, delayMs])).toEqual([
      ['allowed', 0],
      ['allowed', 100],
      ['allowed', 200],
      ['denied', 0],
    ]);
  });

  test('a request that only checks is held until its cost fits, and takes nothing', async () => {
    const { limiter, time, decide, level } = await served({ limits: [{ limit: 'Queue', mode: 'check-only' }] });
    for (const user of ['a', 'b']) expect((await (await decide(user)).answer).body).toBe('0');
    await limiter.charge([{ limit: 'Queue', id: 'backend' }]);
    const held = await decide('c');
    expect(await level()).toBe(100);
    time.advance(100);
    expect((await held.answer).body).toBe('100');
    expect(await level()).toBe(0);
    expect(time.pending).toBe(0);
  });

  test('a request with an invalid id for another limit is answered at once, and takes no place', async () => {
    const more = { Bad: { key: accountId(() => ''), count: 1, period: '1s' } };
    const { app, limiter, time } = await served({ more, options: { maxQueued: 1 } });
    const other = await start(framework, { limits: [{ limiter, limits: ['Queue', 'Bad'], maxQueued: 1 }] });
    expect(await app.statuses(1)).toEqual([200]);
    expect((await other.statuses(2)).every((status) => status >= 400 && status !== 429)).toBe(true);
    expect(time.pending).toBe(0);
  });

  test('of two middlewares each holds a request for its own delay', async () => {
    const { time, store } = timed();
    const limits = {
      First: { key: userKey, ...QUEUE },
      Second: { key: accountId(() => 'backend'), ...QUEUE, count: 5 },
    };
    const limiter = stillLimiter({ limits, store, time });
    let handled = 0;
    const app = await start(framework, {
      limits: [
        { limiter, limits: ['First'] },
        { limiter, limits: ['Second'] },
      ],
      routes: { '/': { handle: ({ decision }) => (handled++, `${decision?.delayMs} ${decision?.results.length}`) } },
    });
    expect((await app.get('/', as('a'))).body).toBe('0 2');
    const held = app.visit('/', as('a'));
    await expect.poll(() => time.pending).toBe(1);
    time.advance(100);
    await expect.poll(() => time.pending).toBe(1);
    expect(handled).toBe(1);
    time.advance(100);
    expect((await held.answer).body).toBe('200 2');
  });

  test('while the store is down, this process holds requests at its part of the limit', async () => {
    const { time } = timed();
    const limits = { Queue: { key: accountId(() => 'backend'), ...QUEUE } };
    const limiter = stillLimiter({ limits, store: brokenStore(), time, failure: { gateways: 2 } });
    const app = await start(framework, { limits: [{ limiter }] });
    expect(await app.statuses(1)).toEqual([200]);
    const held = app.visit();
    await expect.poll(() => time.pending).toBe(1);
    expect(await app.statuses(1)).toEqual([429]);
    time.advance(200);
    expect((await held.answer).status).toBe(200);
  });

  test('an inline limit may have a maxWait', async () => {
    const { time, store } = timed();
    const app = await start(framework, {
      limits: [{ name: 'Queue', ...QUEUE, store, time, log: false, maxQueued: 1 }],
    });
    expect(await app.statuses(1)).toEqual([200]);
    const held = app.visit();
    await expect.poll(() => time.pending).toBe(1);
    expect(await app.statuses(1)).toEqual([429]);
    time.advance(100);
    expect((await held.answer).status).toBe(200);
  });

  test.each([-1, 1.5, NaN, 1_000_001, '10', null])('a maxQueued of %o is an error', (maxQueued) => {
    expect(() => framework.make({ count: 1, period: '1s', maxQueued })).toThrow(
      expect.objectContaining({
        code: 'ERR_OPTION',
        message: expect.stringContaining('`maxQueued` must be a whole number'),
      }),
    );
  });
}
