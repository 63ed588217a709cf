import { Agent, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import type { Framework } from '../framework.ts';
import { userKey } from '../limiters.ts';
import { serveSlots, type SlotApp } from '../slots.ts';
import { concurrency } from '@sluice/core/concurrency';

/** Slots of requests on connections of HTTP/1.1, which carry one response after the other. */
export function slotConnectionCases(framework: Framework): void {
  const GET = 'GET / HTTP/1.1\r\nHost: x\r\nX-User: ann\r\n\r\n';
  const limits = { InFlight: concurrency({ key: userKey, concurrency: 3 }) };

  /** Opens a connection, and sends requests on it in one packet. */
  function pipeline({ app }: SlotApp, requests: number): { socket: Socket; statuses: () => string[] } {
    const socket = connect(app.port, '127.0.0.1').on('error', () => undefined);
    onTestFinished(() => void socket.destroy());
    let text = '';
    socket.setEncoding('latin1').on('data', (chunk: string) => (text += chunk));
    socket.write(GET.repeat(requests));
    return { socket, statuses: () => Array.from(text.matchAll(/HTTP\/1\.1 (\d+) /g), ([, status]) => status!) };
  }

  test.each([false, true])(
    'many requests on one connection each release their own (late store: %s)',
    async (isLate) => {
      const { app, open, counts, allReleased } = await serveSlots(framework, {
        isLate,
        limits: { InFlight: concurrency({ key: userKey, concurrency: 1 }) },
      });
      open();
      const agent = new Agent({ keepAlive: true, maxSockets: 1 });
      const sockets = new Set<Socket>();
      const statuses: unknown[] = [];
      for (let i = 0; i < 50; i++) {
        await new Promise<void>((resolve, reject) => {
          const sent = request({ port: app.port, host: '127.0.0.1', agent, headers: { 'X-User': 'ann' } }, (answer) => {
            statuses.push(answer.statusCode);
            answer.resume().on('end', () => setImmediate(resolve));
          });
          sent.on('socket', (socket) => sockets.add(socket)).on('error', reject).end(); // prettier-ignore
        });
        await expect.poll(() => counts.held).toBe(0);
      }
      expect({ sockets: sockets.size, statuses: new Set(statuses), taken: counts.taken }).toEqual({
        sockets: 1,
        statuses: new Set([200]),
        taken: 50,
      });
      agent.destroy();
      await allReleased();
    },
  );

  test.each([false, true])(
    'pipelined requests each hold one until their own response is sent (late store: %s)',
    async (isLate) => {
      const served = await serveSlots(framework, { isLate, limits });
      const { statuses } = pipeline(served, 5);
      await expect.poll(() => served.decisions.length).toBe(5);
      expect(served.counts.held).toBe(3);
      served.open();
      await expect.poll(statuses).toEqual(['200', '200', '200', '429', '429']);
      await served.allReleased();
      expect(served.counts.taken).toBe(3);
    },
  );

  test.each([
    ['ends', (socket: Socket) => socket.destroy()],
    ['resets', (socket: Socket) => socket.resetAndDestroy()],
  ])('a client that %s its connection releases those of all pipelined requests, once', async (_how, leave) => {
    for (const isLate of [false, true]) {
      const served = await serveSlots(framework, { isLate, limits });
      const { socket } = pipeline(served, 3);
      await expect.poll(() => served.seen.inProgress).toBe(3);
      expect(served.counts.held).toBe(3);
      leave(socket);
      await expect.poll(() => served.counts.held).toBe(0);
      served.open();
      await expect.poll(() => served.seen.inProgress).toBe(0);
      await served.allReleased();
      expect(served.counts.taken).toBe(3);
    }
  });

  test('a client that leaves while its second request waits behind the first releases both', async () => {
    let handled = 0;
    const served = await serveSlots(framework, {
      limits,
      // The second is answered, but its response has to wait for that of the first.
      handle: async () => (handled++ === 0 ? new Promise(() => undefined) : 'ok'),
    });
    const { socket } = pipeline(served, 2);
    await expect.poll(() => handled).toBe(2);
    expect(served.counts.held).toBe(2);
    socket.destroy();
    await served.allReleased();
    expect(served.counts.taken).toBe(2);
  });
}
