import { accountId, createLimiter, memoryStore } from '@sluice/core';
import { FakeTime } from '@sluice/core/testing';
import { limitUpgrade } from '@sluice/node';
import { createServer } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { expect, onTestFinished, test } from 'vitest';

/** A server whose upgrades wait in a queue, and the outcome of each. */
async function serve(skip: () => boolean | Promise<boolean> = () => false) {
  const time = new FakeTime();
  const limits = { Queue: { key: accountId(() => 'all'), burst: 1, count: 10, period: '1s', maxWait: '1s' } };
  const limiter = createLimiter({ limits, store: memoryStore({ time }), time, log: false });
  const accepted: number[] = [];
  let decided = 0;
  const server = createServer();
  const sockets: Duplex[] = [];
  server.on('upgrade', (_request, socket: Duplex) => sockets.push(socket));
  const accept = (_request: unknown, socket: Duplex): void => {
    accepted.push(time.nowMs);
    socket.end('HTTP/1.1 101 Switching Protocols\r\nUpgrade: echo\r\nConnection: Upgrade\r\n\r\n');
  };
  server.on('upgrade', limitUpgrade(limiter, { accept, onDecision: () => decided++, maxQueued: 5, skip }));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  const send = (): Socket => {
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1').on('error', () => undefined);
    socket.write('GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n');
    return socket;
  };
  const open = async (): Promise<{ socket: Socket; answer: Promise<string> }> => {
    const before = decided;
    const socket = send();
    let text = '';
    socket.setEncoding('latin1').on('data', (chunk: string) => (text += chunk));
    const answer = new Promise<string>((resolve) => socket.on('close', () => resolve(text)));
    await expect.poll(() => decided).toBe(before + 1);
    return { socket, answer };
  };
  const level = async () => (await limiter.check([{ limit: 'Queue', id: 'all', cost: 0 }])).resetAfterMs;
  return { time, limiter, accepted, sockets, decisions: () => decided, send, open, level };
}

test('an upgrade waits for its turn', async () => {
  const { time, accepted, open } = await serve();
  const [first, second] = [await open(), await open()];
  expect(await first.answer).toMatch(/^HTTP\/1.1 101 /);
  time.advance(99.999);
  expect(accepted).toEqual([0]);
  time.advance(0.001);
  expect(await second.answer).toMatch(/^HTTP\/1.1 101 /);
  expect(accepted).toEqual([0, 100]);
});

test('an upgrade whose client resets its connection while it waits gives its tokens back', async () => {
  const { time, accepted, open, level } = await serve();
  await open();
  const { socket } = await open();
  expect(await level()).toBe(200);
  socket.resetAndDestroy();
  await expect.poll(level).toBe(100);
  expect(time.pending).toBe(0);
  expect(accepted).toEqual([0]);
});

test('upgrades that wait are answered with 503 when the limiter closes', async () => {
  const { limiter, accepted, open } = await serve();
  await open();
  const { answer } = await open();
  await limiter.close();
  expect(await answer).toMatch(/^HTTP\/1.1 503 [^]*Retry-After: 1\r\n[^]*temporary-reduced-capacity/);
  expect(accepted).toEqual([0]);
});

test('an upgrade whose client had reset its connection before the decision takes no turn', async () => {
  let isWaiting = false;
  let decide = (): void => undefined;
  const { time, accepted, limiter, sockets, decisions, level, send } = await serve(() => {
    isWaiting = true;
    return new Promise((resolve) => (decide = () => resolve(false)));
  });
  await limiter.spend([{ limit: 'Queue', id: 'all' }]);
  const socket = send();
  await expect.poll(() => isWaiting).toBe(true);
  const [server] = sockets;
  socket.resetAndDestroy();
  await expect.poll(() => server?.destroyed).toBe(true);
  decide();
  await expect.poll(decisions).toBe(1);
  await expect.poll(level).toBe(100);
  expect(time.pending).toBe(0);
  expect(accepted).toEqual([]);
});
