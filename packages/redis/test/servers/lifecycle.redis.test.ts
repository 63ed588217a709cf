import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { redisServer } from '../../../../test/redis/servers/redis-server.ts';
import { running } from '../../../../test/redis/servers/running.ts';
import { until } from '../../../../test/redis/servers/until.ts';
import type { ConnectionChange } from '../../src/client/connection-status.ts';
import { call, isIn, isUp, openScriptClient, rejection, CLIENTS } from '../ioredis/support/client.ts';
import { add, echo } from '../ioredis/support/scripts.ts';

const PROGRAM = new URL('../ioredis/support/open-and-close.ts', import.meta.url);
const LOADER = new URL('../../../../test/redis/processes/typescript.mjs', import.meta.url).href;

/** A server that takes connections and never sends anything; it counts those that are open. */
async function muteServer() {
  let connections = 0;
  const server = createServer((socket) => {
    connections++;
    socket.on('error', () => {});
    socket.on('close', () => connections--);
    socket.resume();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  running.add({ close: async () => void server.close() });
  return { port: (server.address() as AddressInfo).port, connections: () => connections };
}

describe.each(CLIENTS)('the life of a script client of $name', ({ clientTo }) => {
  test('starts without a server: calls are rejected at once, and it is up when the server is', async () => {
    const server = await redisServer({ absent: true });
    const changes: ConnectionChange[] = [];
    const scriptClient = openScriptClient({
      client: clientTo(server.port),
      onChange: (change) => changes.push(change),
    });
    expect(scriptClient.status().state).toBe('connecting');
    expect(await rejection(scriptClient.run(call(echo)))).toMatchObject({ code: 'ERR_STORE_UNAVAILABLE' });
    await isIn('down', scriptClient);
    const { code, message } = await rejection(scriptClient.run(call(echo)));
    expect(code).toBe('ERR_STORE_UNAVAILABLE');
    expect(message).toContain('ECONNREFUSED');
    await server.start();
    await isUp(scriptClient);
    expect(await scriptClient.run(call(add))).toEqual([expect.any(Number), 1]);
    expect(changes.map(({ state }) => state)).toEqual(['down', 'up']);
    expect(changes[0]?.cause).toMatchObject({ code: 'ECONNREFUSED' });
    expect(scriptClient.status().counts).toMatchObject({ calls: 3, unreachable: 2, connects: 1 });
  });

  test('rejects without a promise of its own for each call: the error is the same while nothing changes', async () => {
    const server = await redisServer({ absent: true });
    const scriptClient = openScriptClient({ client: clientTo(server.port) });
    await isIn('down', scriptClient);
    const errors = await Promise.allSettled([scriptClient.run(call(echo)), scriptClient.run(call(echo))]);
    const [first, second] = errors.map((outcome) => (outcome as PromiseRejectedResult).reason as unknown);
    expect(first).toBe(second);
  });

  test('reports once that a server is lost, and once that it is back', async () => {
    const server = await redisServer();
    const changes: ConnectionChange[] = [];
    const scriptClient = openScriptClient({
      client: clientTo(server.port),
      onChange: (change) => changes.push(change),
    });
    await isUp(scriptClient);
    await server.kill();
    await isIn('down', scriptClient);
    await rejection(scriptClient.run(call(echo)));
    await server.start();
    await isUp(scriptClient);
    expect(changes.map(({ state }) => state)).toEqual(['up', 'down', 'up']);
    expect(changes[1]?.server).toContain(String(server.port));
  });

  test('ends: what waits is rejected, later calls are an error, and the server has no connection of it', async () => {
    const server = await redisServer();
    const before = await connectionsTo(server);
    const scriptClient = openScriptClient({ client: clientTo(server.port) });
    await isUp(scriptClient);
    server.freeze();
    const waiting = rejection(scriptClient.run(call(add)));
    const closing = scriptClient.close();
    expect(scriptClient.close()).toBe(closing);
    expect(await waiting).toMatchObject({ code: 'ERR_STORE_UNAVAILABLE' });
    expect((await waiting).message).toContain('closed');
    await closing;
    server.thaw();
    expect(await rejection(scriptClient.run(call(echo)))).toMatchObject({ code: 'ERR_CLOSED' });
    expect(scriptClient.status().state).toBe('closed');
    await until('the server has lost the connection', async () => (await connectionsTo(server)) === before);
  });

  test('ends while it waits for a server that is not there', async () => {
    const server = await redisServer({ absent: true });
    const scriptClient = openScriptClient({ client: clientTo(server.port) });
    await isIn('down', scriptClient);
    await scriptClient.close();
    await server.start();
    // A command of the test's own: whoever wanted to connect has had the time.
    expect(await server.call('PING')).toBe('PONG');
    expect(await connectionsTo(server)).toBe(1);
  });

  test('ends before it has begun to connect', async () => {
    const mute = await muteServer();
    const scriptClient = openScriptClient({ client: clientTo(mute.port) });
    await scriptClient.close();
    expect(await rejection(scriptClient.run(call(echo)))).toMatchObject({ code: 'ERR_CLOSED' });
  });

  test('ends while a server keeps it waiting for its first word, which it does not wait for', async () => {
    const mute = await muteServer();
    const scriptClient = openScriptClient({ client: clientTo(mute.port) });
    await until('it is connected', () => mute.connections() === 1);
    await scriptClient.close();
    await until('the connection is closed', () => mute.connections() === 0);
    expect(scriptClient.status().state).toBe('closed');
  });

  test('cuts a connection on which a server never sends anything, and tries again', async () => {
    const mute = await muteServer();
    const scriptClient = openScriptClient({ client: clientTo(mute.port) });
    await until('two connections were cut', () => scriptClient.status().counts.resets >= 2, { everyMs: 5 });
    const { message } = await rejection(scriptClient.run(call(echo)));
    expect(message).toContain('sent nothing');
    expect(mute.connections()).toBeLessThanOrEqual(1);
  });
});

async function connectionsTo(server: { call<T>(command: string, ...args: string[]): Promise<T> }): Promise<number> {
  return (await server.call<string>('CLIENT', 'LIST')).trim().split('\n').length;
}

test('a closed script client lets its process exit, whether the server is up, absent or silent', async () => {
  const server = await redisServer();
  const absent = await redisServer({ absent: true });
  const mute = await muteServer();
  const urls = [server, absent, mute].map(({ port }) => `redis://127.0.0.1:${port}`);
  const args = ['--conditions=@sluice/source', '--import', LOADER, fileURLToPath(PROGRAM), ...urls];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  expect(stdout.trim().split('\n').toSorted()).toEqual(['closed from down', 'closed from down', 'closed from up']);
});
