import { accountId, fromHeaders, type Decision } from '@sluice/core';
import { expect, test } from 'vitest';
import type { Framework, NativeRequest, Options } from '../framework.ts';
import { as, heldStore, lateStore, stillLimiter, timed, userKey, userOf } from '../limiters.ts';
import { start } from '../start.ts';

/** One request every 100 ms. */
const QUEUE = { burst: 1, count: 10, period: '1s', maxWait: '10s' };

/** Requests whose callers give up. */
export function deadlineCases(framework: Framework): void {
  /** An application with one queue for all requests, whose handler records the users in their order. */
  async function served(options: Partial<Options>, { isLate = false } = {}) {
    const { time, store } = timed();
    const limits = { Queue: { key: accountId(() => 'backend'), ...QUEUE } };
    const limiter = stillLimiter({ limits, store: isLate ? lateStore(store) : store, time });
    const decisions: Decision[] = [];
    const handled: (string | null)[] = [];
    const app = await start(framework, {
      limits: [{ limiter, onDecision: (decision: Decision) => decisions.push(decision), ...options }] as never,
      routes: { '/': { handle: ({ incoming }) => (handled.push(userOf(incoming)), 'ok') } },
    });
    /** Sends the request of a user, and waits until it is decided. */
    const decide = async (user: string, headers: Readonly<Record<string, string>> = {}) => {
      const visit = app.visit('/', as(user, headers));
      const before = decisions.length;
      await expect.poll(() => decisions.length).toBe(before + 1);
      return visit;
    };
    /** The level of the queue's bucket, in milliseconds. */
    const level = async () => (await limiter.check([{ limit: 'Queue', id: 'backend', cost: 0 }])).resetAfterMs;
    return { app, time, decisions, handled, decide, level };
  }

  const users = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];

  test.each([false, true])('no handler runs after its caller has given up (late store: %s)', async (isLate) => {
    const { time, decisions, handled, decide, level } = await served({ deadline: () => 250 }, { isLate });
    const visits = [];
    for (const user of users) visits.push(await decide(user));
    expect(decisions.map(({ reason }) => reason)).toEqual([...Array(3).fill(undefined), ...Array(5).fill('deadline')]);
    expect(await level()).toBe(300);
    const denied = await Promise.all(visits.slice(3).map(({ answer }) => answer));
    for (const { status, headers } of denied) {
      expect(status).toBe(429);
      expect([headers['retry-after'], headers.ratelimit]).toEqual(['1', '"Queue";r=0']);
    }
    time.advance(200);
    expect((await Promise.all(visits.slice(0, 3).map(({ answer }) => answer))).map(({ status }) => status)).toEqual([
      200, 200, 200,
    ]);
    time.advance(10_000);
    expect([handled, time.pending]).toEqual([['a', 'b', 'c'], 0]);
  });

  test('a deadline may be a date by the wall clock, and may differ for each request', async () => {
    const begin = Date.parse('2026-12-01T12:00:00Z');
    const deadline = ({ headers }: NativeRequest): Date | undefined =>
      headers['x-date'] === undefined ? undefined : new Date(headers['x-date'] as string);
    const { time, handled, decide } = await served({ deadline });
    time.setWall(begin);
    await decide('a');
    const early = await decide('b', { 'X-Date': new Date(begin + 100).toISOString() });
    const late = await decide('c', { 'X-Date': new Date(begin + 101).toISOString() });
    const patient = await decide('d');
    expect((await early.answer).status).toBe(429);
    time.advance(200);
    expect([(await late.answer).status, (await patient.answer).status]).toEqual([200, 200]);
    expect(handled).toEqual(['a', 'c', 'd']);
  });

  test('a caller that has given up when its request comes is denied, takes nothing, and gets no figures', async () => {
    const { app, decisions, handled, level } = await served({ deadline: () => 0 });
    const { status, headers, body } = await app.get();
    expect([status, headers['retry-after'], headers.ratelimit]).toEqual([429, '1', undefined]);
    expect(JSON.parse(body)).toMatchObject({ status: 429, detail: expect.stringContaining('The deadline') });
    expect(decisions).toMatchObject([{ reason: 'deadline', results: [], limit: null }]);
    expect([handled, await level()]).toEqual([[], 0]);
  });

  test.each(['grpc-timeout', 'x-envoy-expected-rq-timeout-ms'])(
    'the field %s is read only if that is asked for',
    async (name) => {
      const fields = { [name]: name === 'grpc-timeout' ? '50m' : '50' };
      for (const [deadline, status] of [
        [undefined, 200],
        [fromHeaders(), 429],
      ] as const) {
        const { time, decide } = await served({ deadline });
        await decide('a');
        const second = await decide('b', fields);
        time.advance(100);
        expect((await second.answer).status).toBe(status);
      }
    },
  );

  test.each(['0', '-1m', '50', '999999999m', '1e3m', 'NaNm', '50m, 50m', '5.5m', '__proto__', '%00'])(
    'a field grpc-timeout of %s is ignored',
    async (wrong) => {
      const { time, decide } = await served({ deadline: fromHeaders() });
      await decide('a');
      const held = await decide('b', { 'grpc-timeout': wrong });
      time.advance(100);
      expect((await held.answer).status).toBe(200);
    },
  );

  test('a hostile field shortens the wait of its own request, and changes no turn of others', async () => {
    const { time, handled, decide, level } = await served({ deadline: fromHeaders() });
    await decide('a');
    const visits = [];
    for (const user of ['b', 'c', 'd']) {
      const hostile = await decide('hostile', { 'grpc-timeout': user === 'c' ? '1n' : '0m' });
      expect((await hostile.answer).status).toBe(429);
      visits.push(await decide(user));
    }
    expect(await level()).toBe(400);
    time.advance(300);
    expect(await Promise.all(visits.map(({ answer }) => answer))).toMatchObject([1, 2, 3].map(() => ({ status: 200 })));
    expect(handled).toEqual(['a', 'b', 'c', 'd']);
  });

  test('a store is waited for no longer than the caller, and what it takes later is given back', async () => {
    const { time } = timed();
    const { store, arrived, release } = heldStore();
    const limits = { PerUser: { key: userKey, count: 5, period: '1m' } };
    const limiter = stillLimiter({ limits, store, time });
    const app = await start(framework, { limits: [{ limiter, deadline: () => 30 }] });
    const visit = app.visit('/', as('ann'));
    await expect.poll(arrived).toBe(1);
    time.advance(30);
    expect((await visit.answer).status).toBe(429);
    release();
    const left = async () => (await limiter.check([{ limit: 'PerUser', id: 'ann', cost: 0 }])).remaining;
    await expect.poll(left).toBe(5);
  });

  test('a deadline that fails leaves the limits decided, and reaches the error handler', async () => {
    const failing = (): never => {
      throw Object.assign(new Error('no deadline'), { status: 418, statusCode: 418 });
    };
    const { app, level } = await served({ deadline: failing });
    expect((await app.get()).status).toBe(418);
    expect(await level()).toBe(100);
    const wrong = await served({ deadline: (() => 'soon') as never });
    expect((await wrong.app.get()).status).toBe(500);
    expect(wrong.app.errors).toMatchObject([{ code: 'ERR_OPTION', path: 'deadline' }]);
  });

  test('in shadow mode, a caller that has given up is let through', async () => {
    const { app, decisions } = await served({ deadline: () => 0, shadow: true });
    expect((await app.get()).status).toBe(200);
    expect(decisions).toMatchObject([{ allowed: false, reason: 'deadline' }]);
  });

  test.each([null, 50, '1s', {}, new Date()])('a deadline of %o is an error', (deadline) => {
    expect(() => framework.make({ count: 1, period: '1s', deadline })).toThrow(
      expect.objectContaining({
        code: 'ERR_OPTION',
        message: expect.stringContaining('`deadline` must be a function'),
      }),
    );
  });
}
