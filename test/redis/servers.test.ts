import { connect } from 'node:net';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { Redis } from 'ioredis';
import { describe, expect, it } from 'vitest';
import { run } from './processes/run.ts';
import { redisServer } from './servers/redis-server.ts';
import { tcpProxy } from './servers/tcp-proxy.ts';
import { until } from './servers/until.ts';

function client(port: number): Redis {
  const redis = new Redis({ port, maxRetriesPerRequest: 0, retryStrategy: () => null });
  redis.on('error', () => {});
  return redis;
}

describe('a server of the tests', () => {
  it('stops, starts again at its port without its data, and reports its version', async () => {
    const server = await redisServer();
    await server.call('SET', 'a', '1');
    await server.stop();
    await expect(server.call('GET', 'a')).rejects.toThrow('Connection is closed');
    await server.start();
    expect(await server.call('GET', 'a')).toBeNull();
    expect((await server.commandCalls()).get('get')).toBe(1);
  });

  it('answers nothing while it is frozen, and all of it afterwards', async () => {
    const server = await redisServer();
    await server.call('PING');
    server.freeze();
    let answered = false;
    const pong = server.call('PING').then(() => (answered = true));
    const redis = client(server.port);
    await until('its connection stands', () => redis.status === 'connect');
    expect(answered).toBe(false);
    server.thaw();
    await pong;
    redis.disconnect();
  });

  it('ends when its tests are killed', async () => {
    const child = run('one-server.ts');
    const [{ port, folder }] = (await once(child, 'message')) as [{ port: number; folder: string }];
    child.kill('SIGKILL');
    await until('nobody listens any more', () => refused(port));
    await until('its folder is gone', () => !existsSync(folder));
    expect(await refused(port)).toBe(true);
  });
});

function refused(port: number): Promise<boolean> {
  const socket = connect({ port, host: '127.0.0.1' });
  return new Promise((resolve) => {
    socket.once('error', () => resolve(true));
    socket.once('connect', () => resolve((socket.destroy(), false)));
  });
}

describe('the proxy', () => {
  it.each(['requests', 'replies', 'both'] as const)('loses %s for good', async (direction) => {
    const server = await redisServer();
    const proxy = await tcpProxy(server);
    const old = client(proxy.port);
    await old.ping();
    proxy.blackhole(direction);
    const lost = old.incr('a').catch(() => 'lost');
    await until('something was lost', () => proxy.lostBytes > 0);
    await proxy.pass();
    const fresh = client(proxy.port);
    await fresh.ping();
    expect(await server.call('GET', 'a')).toBe(direction === 'replies' ? '1' : null);
    old.disconnect();
    expect(await lost).toBe('lost');
    fresh.disconnect();
  });

  it('delays what is sent while it stalls, and delivers it in order afterwards', async () => {
    const proxy = await tcpProxy(await redisServer());
    const redis = client(proxy.port);
    await redis.ping();
    proxy.stall();
    const sentBytes = proxy.requestedBytes;
    const counted = Promise.all([redis.incr('a'), redis.incr('a')]);
    await until('both were sent', () => proxy.requestedBytes > sentBytes);
    await proxy.pass();
    expect(await counted).toEqual([1, 2]);
    redis.disconnect();
  });

  it('cuts a connection between a write and its reply', async () => {
    const server = await redisServer();
    const proxy = await tcpProxy(server);
    const redis = client(proxy.port);
    await redis.ping();
    proxy.cutNextReply();
    await expect(redis.incr('a')).rejects.toThrow('Connection is closed');
    expect(await server.call('GET', 'a')).toBe('1');
  });

  it('resets and rejects connections, and accepts them again', async () => {
    const proxy = await tcpProxy(await redisServer());
    const redis = client(proxy.port);
    await redis.ping();
    proxy.reset();
    await until('it was told', () => redis.status === 'end');
    await proxy.refuse();
    expect(await refused(proxy.port)).toBe(true);
    await proxy.pass();
    const fresh = client(proxy.port);
    expect(await fresh.ping()).toBe('PONG');
    fresh.disconnect();
  });
});
