import type { Limiter, Store } from '@sluice/core';
import { Agent, request } from 'node:http';
import { connect, type Server, type Socket } from 'node:net';
import { setImmediate as turnOfLoop } from 'node:timers/promises';
import { promisify } from 'node:util';
import { describe, expect, onTestFinished, test } from 'vitest';
import { ok, type Framework, type NativeRequest, type Options } from '../framework.ts';
import { heldStore, stillLimiter, timed, userKey } from '../limiters.ts';
import { start } from '../start.ts';

/** Waits until a server has noticed that its clients have left, and has done what follows from that. */
async function allLeft(server: Server): Promise<void> {
  await expect.poll(promisify(server.getConnections.bind(server))).toBe(0);
  await turnOfLoop();
}

/** Settling on connections of HTTP/1.1, which carry one response after the other. */
export function connectionCases(framework: Framework): void {
  const manyOf = (count: number, store: Store = timed().store): Limiter<NativeRequest> =>
    stillLimiter({
      limits: { PerUser: { key: userKey, count, period: '1h' } },
      store,
      failure: { deadlineMs: 5000 },
    });
  const remaining = async (limiter: Limiter<NativeRequest>): Promise<number> =>
    (await limiter.check([{ limit: 'PerUser', id: 'ann' }])).remaining;

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
      return { seen, open, pipeline, server: app.server };
    }

    test('a client that leaves while they are queued behind a slow answer: the full cost of each stays, once', async () => {
      const limiter = manyOf(9);
      const { seen, pipeline, server } = await serve(limiter);
      const socket = pipeline(3);
      await expect.poll(() => seen.handled).toBe(3);
      expect(await remaining(limiter)).toBe(9);
      socket.destroy();
      await allLeft(server);
      expect(await remaining(limiter)).toBe(6);
      expect(seen.asked).toBe(0);
    });

    test('a client that left before the store has answered for a queued one: the full cost stays, once', async () => {
      const { store, arrived, release } = heldStore();
      const limiter = manyOf(9, store);
      const { seen, pipeline, server } = await serve(limiter);
      const socket = pipeline(2);
      await expect.poll(arrived).toBe(2);
      socket.destroy();
      await allLeft(server);
      release();
      await expect.poll(() => remaining(limiter)).toBe(7);
      await turnOfLoop();
      expect(await remaining(limiter)).toBe(7);
      expect(seen.asked).toBe(0);
    });

    test('answers that are sent after all are settled by what they were', async () => {
      const limiter = manyOf(9);
      const { seen, open, pipeline, server } = await serve(limiter);
      const socket = pipeline(3);
      await expect.poll(() => seen.handled).toBe(3);
      open();
      await expect.poll(() => seen.asked).toBe(3);
      socket.destroy();
      await allLeft(server);
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
    const limiter = manyOf(5);
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
    await allLeft(app.server);
    expect(await remaining(limiter)).toBe(5);
  });
}
