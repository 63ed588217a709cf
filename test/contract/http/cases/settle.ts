import type { Limiter, LimiterEvent, Store } from '@sluice/core';
import { Agent, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { ok, type Framework, type Handler, type NativeRequest, type Options } from '../framework.ts';
import { as, hashedUserKey, lateStore, stillLimiter, timed, userKey } from '../limiters.ts';
import { start } from '../start.ts';

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
  ])('a request that held 3 of 5 and cost $trueCost leaves $left', async ({ trueCost, left }) => {
    const limiter = withLimit();
    const settle = framework.settle(async () => trueCost);
    const app = await start(framework, {
      limits: [{ limiter, limits: [{ limit: 'PerUser', cost: 3, settle }] }] as Options[],
      routes: { '/': { handle: async () => `${await remaining(limiter)}` } },
    });
    expect((await app.get('/', wrong)).body).toBe('2');
    await expect.poll(() => remaining(limiter)).toBe(left);
  });

  test('a store that answers later is settled too', async () => {
    const limiter = withLimit([], lateStore());
    const limits = [{ limiter, limits: [{ limit: 'PerUser', cost: 3, settle: framework.settle(() => 1) }] }];
    const app = await start(framework, { limits: limits });
    expect((await app.get('/', wrong)).status).toBe(200);
    await expect.poll(() => remaining(limiter)).toBe(4);
  });

  test('settle is called once for each request that was let through, and never for a refused one', async () => {
    let calls = 0;
    const settle = framework.settle(() => (calls++, 5));
    const limits = [{ limiter: withLimit(), limits: [{ limit: 'PerUser', settle }] }] as Options[];
    const app = await start(framework, { limits });
    expect(await app.statuses(3, '/', wrong)).toEqual([200, 429, 429]);
    expect(calls).toBe(1);
  });

  test('a limit that says nothing about the request is not settled', async () => {
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
              socket.destroy();
              gone = new Promise((resolve) => outgoing.once('close', resolve));
              await gone;
              return 'too late';
            },
          },
        },
      });
      const socket = connect(app.port, '127.0.0.1');
      socket.write('GET / HTTP/1.1\r\nHost: x\r\nX-User: ann\r\n\r\n');
      await new Promise((resolve) => socket.once('close', resolve));
      await expect.poll(() => gone).toBeUndefined();
      await new Promise((resolve) => setImmediate(resolve));
      await expect.poll(() => remaining(limiter)).toBe(left);
      await new Promise((resolve) => setImmediate(resolve));
      expect(await remaining(limiter)).toBe(left);
      expect(asked).toBe(0);
    },
  );

  test('a client that is gone before the store has answered: the full cost stays', async () => {
    const { store } = timed();
    let arrive = (): void => undefined;
    const arrived = new Promise<void>((resolve) => (arrive = resolve));
    let release = (): void => undefined;
    const released = new Promise<void>((resolve) => (release = resolve));
    const slow = { ...lateStore(store), spend: async (batch: never) => {
      arrive();
      await released;
      return store.spend(batch);
    } }; // prettier-ignore
    const limiter = stillLimiter({
      limits: { PerUser: { key: userKey, count: 5, period: '1h' } },
      store: slow,
      failure: { deadlineMs: 5000 },
    });
    const settle = framework.settle(() => 0);
    let closed = false;
    const app = await start(framework, {
      before: ({ outgoing }) => void outgoing.once('close', () => (closed = true)),
      limits: [{ limiter, limits: [{ limit: 'PerUser', cost: 2, mode: 'check-only', settle }] }] as Options[],
    });
    const socket = connect(app.port, '127.0.0.1');
    socket.write('GET / HTTP/1.1\r\nHost: x\r\nX-User: ann\r\n\r\n');
    await arrived;
    socket.destroy();
    await expect.poll(() => closed).toBe(true);
    release();
    await expect.poll(() => remaining(limiter)).toBe(3);
  });

  describe('of pipelined requests', () => {
    const POST = 'POST /login HTTP/1.1\r\nHost: x\r\nX-User: ann\r\nContent-Length: 0\r\n\r\n';

    /** Serves a slow answer, and logins that queue behind it on one connection. */
    async function serve(limiter: Limiter<NativeRequest>) {
      let open = (): void => undefined;
      const opened = new Promise<void>((resolve) => (open = resolve));
      const seen = { asked: 0, handled: 0 };
      const settle = framework.settle(() => (seen.asked++, 0));
      const app = await start(framework, {
        routes: {
          '/slow': { handle: async (context) => (await opened, ok(context)) },
          '/login': {
            limits: [{ limiter, limits: [{ limit: 'PerUser', mode: 'check-only', settle }] }] as Options[],
            handle: () => `${++seen.handled}`,
          },
        },
      });
      const pipeline = (logins: number): Socket => {
        const socket = connect(app.port, '127.0.0.1');
        socket.write('GET /slow HTTP/1.1\r\nHost: x\r\n\r\n' + POST.repeat(logins));
        return socket;
      };
      return { seen, open, pipeline };
    }
    const manyOf = (count: number, store: Store = timed().store): Limiter<NativeRequest> =>
      stillLimiter({
        limits: { PerUser: { key: userKey, count, period: '1h' } },
        store,
        failure: { deadlineMs: 5000 },
      });

    test('a client that leaves while they are queued behind a slow answer: the full cost of each stays, once', async () => {
      const limiter = manyOf(9);
      const { seen, pipeline } = await serve(limiter);
      const socket = pipeline(3);
      await expect.poll(() => seen.handled).toBe(3);
      expect(await remaining(limiter)).toBe(9);
      socket.destroy();
      await expect.poll(() => remaining(limiter)).toBe(6);
      await new Promise((resolve) => setTimeout(resolve, 20));
      expect(await remaining(limiter)).toBe(6);
      expect(seen.asked).toBe(0);
    });

    test('a client that left before the store has answered for a queued one: the full cost stays, once', async () => {
      const { store } = timed();
      let release = (): void => undefined;
      const released = new Promise<void>((resolve) => (release = resolve));
      let arrived = 0;
      const slow = { ...lateStore(store), spend: async (batch: never) => {
        arrived++;
        await released;
        return store.spend(batch);
      } }; // prettier-ignore
      const limiter = manyOf(9, slow);
      const { seen, pipeline } = await serve(limiter);
      const socket = pipeline(2);
      await expect.poll(() => arrived).toBe(2);
      const gone = new Promise((resolve) => socket.once('close', resolve));
      socket.destroy();
      await gone;
      await new Promise((resolve) => setTimeout(resolve, 50));
      release();
      await expect.poll(() => remaining(limiter)).toBe(7);
      await new Promise((resolve) => setTimeout(resolve, 20));
      expect(await remaining(limiter)).toBe(7);
      expect(seen.asked).toBe(0);
    });

    test('answers that are sent after all are settled by what they were', async () => {
      const limiter = manyOf(9);
      const { seen, open, pipeline } = await serve(limiter);
      const socket = pipeline(3);
      await expect.poll(() => seen.handled).toBe(3);
      open();
      await expect.poll(() => seen.asked).toBe(3);
      socket.destroy();
      await new Promise((resolve) => setTimeout(resolve, 20));
      expect(await remaining(limiter)).toBe(9);
    });

    test('thirty on one connection make Node warn of nothing', async () => {
      const warnings: Error[] = [];
      const note = (warning: Error): void => void warnings.push(warning);
      process.on('warning', note);
      onTestFinished(() => void process.off('warning', note));
      const limiter = manyOf(40);
      const { seen, pipeline } = await serve(limiter);
      const socket = pipeline(30);
      await expect.poll(() => seen.handled).toBe(30);
      socket.destroy();
      await expect.poll(() => remaining(limiter)).toBe(10);
      expect(warnings).toEqual([]);
    });
  });

  test('a connection that is kept gathers no listeners, and no request is settled again when it ends', async () => {
    const limiter = withLimit();
    const listeners: number[] = [];
    let asked = 0;
    const settle = framework.settle(() => (asked++, 0));
    const app = await start(framework, {
      limits: [{ limiter, limits: [{ limit: 'PerUser', mode: 'check-only', settle }] }] as Options[],
      routes: { '/': { handle: ({ incoming }) => `${listeners.push(incoming.socket.listenerCount('close'))}` } },
    });
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const sockets = new Set<Socket>();
    for (let i = 0; i < 20; i++) {
      await new Promise<void>((resolve, reject) => {
        const sent = request({ port: app.port, host: '127.0.0.1', agent, headers: { 'X-User': 'ann' } }, (answer) => {
          answer.resume().on('end', () => setImmediate(resolve));
        });
        sent
          .on('socket', (socket) => sockets.add(socket))
          .on('error', reject)
          .end();
      });
    }
    expect(sockets.size).toBe(1);
    expect(new Set(listeners.slice(1)).size).toBe(1);
    expect(listeners.at(-1)).toBeLessThanOrEqual(listeners.at(0)! + 1);
    await expect.poll(() => asked).toBe(20);
    agent.destroy();
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(await remaining(limiter)).toBe(5);
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
