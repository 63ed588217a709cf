import { accountId, clientNetwork, type Limiter } from '@sluice/core';
import { connect, type Socket } from 'node:net';
import { expect, test } from 'vitest';
import type { Framework, NativeRequest, Options, Plan } from '../framework.ts';
import { gate } from '../gate.ts';
import { lateStore, stillLimiter, timed, userKey } from '../limiters.ts';
import { start, type App } from '../start.ts';

/** Clients that reset their connection while their request waits for something. */
export function departedClientCases(framework: Framework): void {
  type Gate = ReturnType<typeof gate>;

  const withLimits = (later: boolean, wait?: () => Promise<void>): Limiter<NativeRequest> => {
    const perClient =
      wait === undefined ? clientNetwork() : accountId(() => wait().then(() => null)).or(clientNetwork());
    return stillLimiter({
      limits: {
        PerClient: { key: perClient, count: 9, period: '1h' },
        PerUser: { key: userKey, count: 9, period: '1h' },
      },
      store: later ? lateStore() : timed().store,
      failure: { deadlineMs: 5000 },
    });
  };

  const remaining = async (limiter: Limiter<NativeRequest>, limit: string, id: string): Promise<number> =>
    (await limiter.check([{ limit, id }])).remaining;

  /** Serves a plan, and lets one client reset its connection while its request waits at the gate. */
  async function reset(plan: Plan, { state, open }: Gate, times = 1): Promise<App> {
    const seen = { over: 0 };
    const app = await start(framework, {
      ...plan,
      before(context) {
        context.outgoing.once('close', () => seen.over++);
        return plan.before?.(context);
      },
    });
    const sockets = Array.from({ length: times }, () => reached(app.port));
    await expect.poll(() => state.waiting).toBe(times);
    for (const socket of sockets) socket.resetAndDestroy();
    await expect.poll(() => seen.over).toBe(times);
    open();
    return app;
  }

  test.each([
    ['a key', false],
    ['a skip', false],
    ['a key', true],
    ['a skip', true],
  ] as const)(
    'a client that resets while %s is awaited is counted by its address, without an error (late store: %s)',
    async (what, later) => {
      const doors = gate();
      const limiter = withLimits(later, what === 'a key' ? doors.pass : undefined);
      const skip = what === 'a skip' ? () => doors.pass().then(() => false) : undefined;
      const own = { limiter, limits: ['PerClient'], skip };
      const app = await reset({ limits: [own] }, doors, 3);
      const id = what === 'a key' ? 'clientNetwork:127.0.0.1' : '127.0.0.1';
      await expect.poll(() => remaining(limiter, 'PerClient', id)).toBe(6);
      expect(ours(app)).toEqual([]);
    },
  );

  test.each([false, true])(
    'a client that resets while a limit is awaited is counted by it, and meets no further limit (late store: %s)',
    async (later) => {
      const doors = gate();
      let handled = 0;
      const key = accountId(() => doors.pass().then(() => 'ann'));
      const first = stillLimiter({ limits: { First: { key, count: 9, period: '1h' } } });
      const limiter = withLimits(later);
      const limits = [{ limiter: first }, { limiter, limits: ['PerClient'] }];
      const app = await reset({ limits, routes: { '/': { handle: () => `${++handled}` } } }, doors, 3);
      await expect.poll(() => remaining(first, 'First', 'ann')).toBe(6);
      await new Promise((resolve) => setImmediate(resolve));
      expect(await remaining(limiter, 'PerClient', '127.0.0.1')).toBe(9);
      expect({ errors: ours(app), handled }).toEqual({ errors: [], handled: 0 });
    },
  );

  test.each([false, true])(
    'a client that left before the first limit ends quietly, and its other limits count (late store: %s)',
    async (later) => {
      const doors = gate();
      let handled = 0;
      const limiter = withLimits(later);
      const app = await reset(
        {
          before: doors.pass,
          limits: [{ limiter, limits: ['PerClient', 'PerUser'] }],
          routes: { '/': { handle: () => `${++handled}` } },
        },
        doors,
      );
      await expect.poll(() => remaining(limiter, 'PerUser', 'ann')).toBe(8);
      await new Promise((resolve) => setImmediate(resolve));
      expect(await remaining(limiter, 'PerClient', '127.0.0.1')).toBe(9);
      expect({ errors: ours(app), handled }).toEqual({ errors: [], handled: 0 });
    },
  );

  test.each([false, true])('a client that left before its only limit ends quietly (shadow: %s)', async (shadow) => {
    const doors = gate();
    let decisions = 0;
    let handled = 0;
    const own = { limiter: withLimits(false), limits: ['PerClient'], shadow, onDecision: () => decisions++ };
    const app = await reset(
      {
        before: doors.pass,
        limits: [own] as Options[],
        routes: { '/': { handle: () => `${++handled}` } },
      },
      doors,
    );
    await new Promise((resolve) => setImmediate(resolve));
    expect({ errors: ours(app), handled, decisions }).toEqual({ errors: [], handled: 0, decisions: 0 });
    expect((await app.get()).status).toBe(200);
  });

  test('a connection that is there, and whose address is not an IP address, is an error', async () => {
    const app = await start(framework, {
      before: ({ incoming }) => void Object.defineProperty(incoming.socket, 'remoteAddress', { value: 'somewhere' }),
      limits: [{ limiter: withLimits(false), limits: ['PerClient'] }],
    });
    expect((await app.get()).status).toBe(500);
    expect(app.errors).toMatchObject([{ code: 'ERR_NO_CLIENT_ADDRESS' }]);
  });

  test('an error of another limit of a client that left reaches the error handler', async () => {
    const doors = gate();
    const limit = { count: 9, period: '1h' };
    const key = accountId((): never => { throw new Error('boom'); }); // prettier-ignore
    const limiter = stillLimiter({ limits: { Bad: { key, ...limit }, PerClient: { key: clientNetwork(), ...limit } } });
    const app = await reset({ before: doors.pass, limits: [{ limiter, limits: ['PerClient', 'Bad'] }] }, doors);
    await expect.poll(() => ours(app)).toMatchObject([{ message: 'boom' }]);
  });
}

/** Koa's error handler also hears that the connection was reset, without any limit. */
function ours({ errors }: App): unknown[] {
  return errors.filter((error) => (error as { readonly code?: string }).code !== 'ECONNRESET');
}

/** A connection that has asked for `/` as ann. */
function reached(port: number): Socket {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => undefined).write('GET / HTTP/1.1\r\nHost: x\r\nX-User: ann\r\n\r\n');
  return socket;
}
