import { accountId, createLimiter, everyone, memoryStore } from '@sluice/core';
import { concurrency } from '@sluice/core/concurrency';
import { FakeTime } from '@sluice/core/testing';
import { limitUpgrade, type UpgradeListener } from '@sluice/node';
import { createServer, type IncomingMessage } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { expect, onTestFinished, test } from 'vitest';

const userKey = accountId((request: IncomingMessage) => request.headers['x-user'] as string);
const fails = (): never => {
  throw new Error('boom');
};

const switching: UpgradeListener = (_request, socket) => {
  socket.write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: echo\r\nConnection: Upgrade\r\n\r\n');
  // As a WebSocket server does: reads, and closes with its client.
  socket.resume().on('end', () => socket.end()).on('error', () => socket.destroy()); // prettier-ignore
};

interface Setup {
  readonly limits?: object;
  readonly accept?: UpgradeListener;
  readonly options?: object;
}

/** A server whose upgrades hold two slots of each user. */
async function serve({ limits = {}, accept = switching, options = {} }: Setup = {}) {
  const time = new FakeTime();
  const store = memoryStore({ time });
  const limiter = createLimiter<IncomingMessage>({
    limits: { Sockets: concurrency({ key: userKey, concurrency: 2 }), ...limits },
    store,
    time,
    log: false,
  });
  const sockets: Duplex[] = [];
  let decided = 0;
  const server = createServer().on('upgrade', (_request, socket: Duplex) => sockets.push(socket));
  const names = ['Sockets', ...Object.keys(limits)] as never[];
  server.on('upgrade', limitUpgrade(limiter, { limits: names, accept, onDecision: () => decided++, ...options }));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  const { port } = server.address() as AddressInfo;
  /** Asks for an upgrade, and waits until it is decided. */
  const open = async (user = 'ann') => {
    const past = decided;
    const socket: Socket = connect(port, '127.0.0.1').on('error', () => undefined);
    let text = '';
    socket.setEncoding('latin1').on('data', (chunk: string) => (text += chunk));
    socket.write(`GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: echo\r\nX-User: ${user}\r\n\r\n`);
    await expect.poll(() => decided).toBe(past + 1);
    const status = async () => (await expect.poll(() => text).toMatch(/^HTTP/), Number(text.slice(9, 12)));
    return { socket, status, text: () => text };
  };
  return { time, limiter, sockets, open, held: () => store.stats().slots['Sockets'] ?? 0 };
}

test('an upgrade holds its slot until its socket closes', async () => {
  const { open, held } = await serve();
  const [first, second] = [await open(), await open()];
  expect([await first.status(), await second.status()]).toEqual([101, 101]);
  expect(held()).toBe(2);
  first.socket.end();
  await expect.poll(held).toBe(1);
  second.socket.resetAndDestroy();
  await expect.poll(held).toBe(0);
});

test('an upgrade above the slots is denied with 429, and holds none when those before close', async () => {
  const { sockets, open, held } = await serve();
  const [first, second, third] = [await open(), await open(), await open()];
  expect(await third.status()).toBe(429);
  expect(third.text()).toContain('\r\nRetry-After: 1\r\n');
  expect(third.text()).toContain('\r\nRateLimit: "Sockets";r=0\r\n');
  await expect.poll(() => sockets.at(2)?.destroyed).toBe(true);
  expect(held()).toBe(2);
  for (const { socket } of [first, second]) socket.destroy();
  await expect.poll(held).toBe(0);
  expect(await (await open()).status()).toBe(101);
});

test('an upgrade for which the service has no room is denied with 503', async () => {
  const { open, held } = await serve({ limits: { Fleet: concurrency({ key: everyone(), concurrency: 1 }) } });
  expect(await (await open('ann')).status()).toBe(101);
  const denied = await open('bob');
  expect(await denied.status()).toBe(503);
  expect(denied.text()).toContain('temporary-reduced-capacity');
  expect(held()).toBe(1);
});

test.each<[what: string, setup: Setup, status: number]>([
  ['that another limit denies', { limits: { Rate: { key: userKey, count: 1, period: '1h' } } }, 429],
  ['whose key at another limit throws', { limits: { Bad: { key: accountId(fails), count: 1, period: '1h' } } }, 500],
])('an upgrade %s holds nothing when it was answered', async (_what, setup, status) => {
  const { limiter, sockets, open, held } = await serve(setup);
  if (status === 429) await limiter.charge([{ limit: 'Rate', id: 'ann' }]);
  for (let i = 0; i < 3; i++) {
    expect(await (await open()).status()).toBe(status);
    await expect.poll(() => sockets.at(i)?.destroyed).toBe(true);
    await expect.poll(held).toBe(0);
  }
});

test.each<[how: string, accept: UpgradeListener]>([
  ['throws', fails],
  ['rejects', async () => fails()],
])('an accept that %s leaves no slot held', async (_how, accept) => {
  const { open, held, sockets } = await serve({ accept });
  for (let i = 0; i < 3; i++) {
    await open();
    await expect.poll(() => sockets.at(i)?.destroyed).toBe(true);
    await expect.poll(held).toBe(0);
  }
});

test('an upgrade that waits for its turn holds its slot, until its client leaves', async () => {
  const Queue = { key: accountId(() => 'all'), burst: 1, count: 10, period: '1s', maxWait: '1s' };
  const { time, sockets, open, held } = await serve({ limits: { Queue } });
  const first = await open();
  const second = await open();
  expect(held()).toBe(2);
  second.socket.resetAndDestroy();
  await expect.poll(held).toBe(1);
  time.advance(1000);
  expect(sockets.at(1)?.destroyed).toBe(true);
  first.socket.destroy();
  await expect.poll(held).toBe(0);
});

test('a settle at an upgrade with slots is an error when the listener is made', async () => {
  const { limiter } = await serve();
  const limits = [{ limit: 'Sockets', settle: () => 1 }] as never;
  expect(() => limitUpgrade(limiter as never, { limits, accept: switching })).toThrow('`settle` must be left out here');
});
