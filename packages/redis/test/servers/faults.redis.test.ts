import { expect, test } from 'vitest';
import { redisServer, type RedisServer } from '../../../../test/redis/servers/redis-server.ts';
import { tcpProxy, type TcpProxy } from '../../../../test/redis/servers/tcp-proxy.ts';
import { until } from '../../../../test/redis/servers/until.ts';
import { call, isUp, openScriptClient, rejection, CLIENTS } from '../ioredis/support/client.ts';
import { load, Record } from '../ioredis/support/load.ts';
import { add } from '../ioredis/support/scripts.ts';
import { realDelay } from '../../../../test/real-delay.ts';

const FAULT_MS = 600;

interface Fault {
  readonly name: string;
  begin(server: RedisServer, proxy: TcpProxy): unknown;
  end(server: RedisServer, proxy: TcpProxy): unknown;
}

const FAULTS: readonly Fault[] = [
  { name: 'hangs (SIGSTOP)', begin: (server) => server.freeze(), end: (server) => server.thaw() },
  {
    name: 'takes no commands for a while (CLIENT PAUSE)',
    begin: (server) => server.call('CLIENT', 'PAUSE', FAULT_MS, 'ALL'),
    end: () => {},
  },
  {
    name: 'is busy with one command (DEBUG SLEEP)',
    begin: (server) => void server.call('DEBUG', 'SLEEP', FAULT_MS / 1000),
    end: () => {},
  },
  { name: 'is killed and restarted', begin: (server) => server.kill(), end: (server) => server.start() },
  {
    name: 'hangs, is killed and restarted',
    begin: (server) => server.freeze(),
    end: async (server) => {
      await server.kill();
      await server.start();
    },
  },
  { name: 'loses what is sent, for good', begin: (_, proxy) => proxy.blackhole(), end: (_, proxy) => proxy.pass() },
  { name: 'loses its answers', begin: (_, proxy) => proxy.blackhole('replies'), end: (_, proxy) => proxy.pass() },
  { name: 'is behind a stalled network', begin: (_, proxy) => proxy.stall(), end: (_, proxy) => proxy.pass() },
  { name: 'is 200 ms away for a while', begin: (_, proxy) => proxy.delay(200), end: (_, proxy) => proxy.pass() },
  { name: 'resets every connection', begin: (_, proxy) => proxy.reset(), end: (_, proxy) => proxy.pass() },
  { name: 'refuses connections', begin: (_, proxy) => proxy.refuse(), end: (_, proxy) => proxy.pass() },
  { name: 'loses the scripts', begin: (server) => server.call('SCRIPT', 'FLUSH'), end: () => {} },
];

test.each(FAULTS)(
  'of a server that $name, clients of all libraries write nothing late and nothing twice, and are up again by themselves',
  async (fault) => {
    const server = await redisServer({ config: { 'enable-debug-command': 'yes' } });
    const proxy = await tcpProxy(server);
    const all = await Promise.all(CLIENTS.map((each) => loaded(each, proxy.port)));
    const areDone = (times: readonly number[], what: string): Promise<void> =>
      until(what, () => all.every(({ calls }, i) => calls.done > times[i]! + 10), { everyMs: 2 });
    await areDone(
      all.map(() => 0),
      'calls are done',
    );
    await fault.begin(server, proxy);
    await realDelay(FAULT_MS);
    // Nobody waits until the fault is over, which most of them are only then.
    await Promise.all(all.map(({ calls }) => calls.settled()));
    await fault.end(server, proxy);
    await areDone(
      all.map(({ calls }) => calls.done),
      'calls are done again',
    );
    await Promise.all(all.map(({ calls }) => calls.stop()));
    for (const { name, calls, scriptClient } of all) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      const { length, lateMs, twice } = new Record(await server.call('LRANGE', name, 0, -1), calls);
      expect(length).toBeGreaterThan(10);
      expect({ name, lateMs, twice, ...scriptClient.status() }).toMatchObject({
        name,
        lateMs: [],
        twice: [],
        state: 'up',
        servers: [{ ready: true }],
      });
    }
  },
);

/** A script client of a library that calls the server at a port all the time, each with a key of its own. */
async function loaded({ name, clientTo }: (typeof CLIENTS)[number], port: number) {
  const scriptClient = openScriptClient({ client: clientTo(port) });
  await isUp(scriptClient);
  return { name, scriptClient, calls: load(scriptClient, { keys: [name] }) };
}

test.each(CLIENTS)(
  'a call of $name whose answer is cut off is rejected soon, and never sent again',
  async ({ clientTo }) => {
    const server = await redisServer();
    const proxy = await tcpProxy(server);
    const scriptClient = openScriptClient({ client: clientTo(proxy.port) });
    await isUp(scriptClient);
    proxy.cutNextReply();
    // After its deadline, the code would be another one.
    const { code } = await rejection(scriptClient.run(call(add, { deadlineMs: 60_000 })));
    expect(code).toBe('ERR_STORE_UNAVAILABLE');
    await isUp(scriptClient);
    await scriptClient.run(call(add, { keys: ['other'] }));
    expect(await server.call('GET', 'key')).toBe('1');
  },
);

test.each(CLIENTS)(
  'a call of $name whose connection is cut names that, and no option of ioredis',
  async ({ clientTo }) => {
    const server = await redisServer();
    const scriptClient = openScriptClient({ client: clientTo(server.port) });
    await isUp(scriptClient);
    await server.call('CLIENT', 'PAUSE', 60_000, 'WRITE');
    const error = rejection(scriptClient.run(call('add', { deadlineMs: 60_000 })));
    await until('the server has read the call', async () => {
      return String(await server.call('CLIENT', 'LIST')).includes('cmd=evalsha');
    });
    await server.call('CLIENT', 'KILL', 'TYPE', 'normal');
    expect(await error).toMatchObject({
      code: 'ERR_STORE_UNAVAILABLE',
      message: expect.stringMatching(
        /^The connection to Redis at \S+ failed: (Error: )?(it was lost before the answer came|Socket closed unexpectedly)\.$/,
      ),
    });
  },
);
