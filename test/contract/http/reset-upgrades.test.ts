import { createNodeWebSocket } from '@hono/node-ws';
import { accountId, createLimiter } from '@sluice/core';
import { limitFetch } from '@sluice/fetch';
import { rateLimit } from '@sluice/hono';
import { Hono } from 'hono';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { describe, expect, onTestFinished, test } from 'vitest';
import { gate } from './gate.ts';
import { connected } from './raw-http2.ts';

const UPGRADE =
  'GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n' +
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n';

describe.each(['hono', 'limitFetch'] as const)('%s on @hono/node-ws', (adapter) => {
  /** A server of WebSockets, of which one a day is allowed. What is asked waits until the decisions are open. */
  async function serve() {
    const decisions = gate();
    const key = accountId(() => decisions.pass().then(() => 'ann'));
    const limiter = createLimiter<never>({ limits: { Sockets: { key, count: 1, period: '1d' } }, log: false });
    const options = { limiter: limiter as never, address: () => null };
    const app = new Hono();
    if (adapter === 'hono') app.use(rateLimit(options));
    const limited = limitFetch(options)((request: Request, ...args: readonly unknown[]) =>
      app.fetch(request, ...(args as never[])),
    );
    const webSockets = createNodeWebSocket({
      app:
        adapter === 'hono'
          ? app
          : ({ request: (url: URL, init: RequestInit, env: object) => limited(new Request(url, init), env) } as never),
    });
    app.get(
      '/',
      webSockets.upgradeWebSocket(() => ({})),
    );
    const sockets: Duplex[] = [];
    const server = createServer().on('upgrade', (_request, socket) => sockets.push(socket));
    webSockets.injectWebSocket(server);
    await once(server.listen(0, '127.0.0.1'), 'listening');
    onTestFinished(() => {
      server.close();
      for (const socket of sockets) socket.destroy();
    });
    const open = async () => {
      const socket = await connected((server.address() as AddressInfo).port);
      socket.write(UPGRADE);
      return socket;
    };
    return { decisions, sockets, open };
  }

  /** Waits until an error of the connection has arrived. Without a listener, it would be one of the process. */
  async function ended(socket: Duplex | undefined): Promise<void> {
    expect(socket!.listenerCount('error')).toBeGreaterThan(0);
    await expect.poll(() => socket!.destroyed).toBe(true);
  }

  test('a client that resets its connection while its upgrade is decided ends no process', async () => {
    const { decisions, sockets, open } = await serve();
    const client = await open();
    await expect.poll(() => decisions.state.waiting).toBe(1);
    client.resetAndDestroy();
    await ended(sockets[0]);
  });

  test('a client that resets its connection after its denial ends no process', async () => {
    const { decisions, sockets, open } = await serve();
    decisions.open();
    const answerOf = async (): Promise<string> => {
      const client = await open();
      const [answer] = (await once(client, 'data')) as [Buffer];
      client.resetAndDestroy();
      return String(answer).slice(0, 12);
    };
    expect([await answerOf(), await answerOf()]).toEqual(['HTTP/1.1 101', 'HTTP/1.1 429']);
    await ended(sockets[1]);
  });
});
