import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { redisServer, type RedisServer } from '../redis/servers/redis-server.ts';
import { sized } from '../sized.ts';
import { keyFor } from '../../examples/cluster-of-processes/keys.js';
import { ExampleServer } from './example-server.ts';

const exec = promisify(execFile);
const PROCESSES = { PROCESSES: String(sized(2, 4)) };

let redis: RedisServer;

beforeAll(async () => {
  redis = await redisServer();
});
afterAll(() => redis.stop());

describe.each([
  { name: 'that ask Redis for each decision', env: {}, atOnce: 100, atLeast: 100 },
  { name: 'with leases', env: { LEASED: '1' }, atOnce: 120, atLeast: 50 },
])('processes $name', ({ env, atOnce, atLeast }) => {
  let server: ExampleServer;

  beforeAll(async () => {
    server = await ExampleServer.start('cluster-of-processes', 'server.js', {
      REDIS_URL: redis.url,
      ...PROCESSES,
      ...env,
    });
  });
  afterAll(() => server.stop());

  it(`let no more than ${atOnce} requests through at once, whichever process gets them`, async () => {
    // The first flood is for the processes to get warm.
    await flood(server, env);
    const { passed, processes, most, seconds } = await flood(server, env);
    // Some tokens may be leased to a process that got no more requests: more of them on a busy machine.
    expect(passed).toBeGreaterThanOrEqual(atLeast);
    expect(passed).toBeLessThanOrEqual(most);
    expect(most).toBe(atOnce + Math.floor(10 * seconds));
    expect(processes).toBeGreaterThan(1);
  });

  it('end on SIGTERM', async () => {
    expect(await server.stop()).toBe(0);
    expect(server.output).not.toMatch(/error/i);
  });
});

it('processes with and without leases share the buckets of a client during a roll-out', async () => {
  const start = (env: NodeJS.ProcessEnv): Promise<ExampleServer> =>
    ExampleServer.start('cluster-of-processes', 'server.js', { REDIS_URL: redis.url, ...PROCESSES, ...env });
  const servers = await Promise.all([start({}), start({ LEASED: '1' })]);
  const startMs = performance.now();
  const statuses = await Promise.all(
    Array.from({ length: 300 }, async (_, i) => {
      const { status } = await fetch(servers[i % 2]!.url, { headers: { 'X-API-Key': keyFor('rolled-out') } });
      return status;
    }),
  );
  const seconds = (performance.now() - startMs) / 1000;
  const passed = statuses.filter((status) => status === 200).length;
  await Promise.all(servers.map((server) => server.stop()));
  expect(passed).toBeGreaterThanOrEqual(50);
  expect(passed).toBeLessThanOrEqual(120 + 10 * seconds);
});

it('a key that the service has not issued gets 401, and its address is limited', async () => {
  const server = await ExampleServer.start('cluster-of-processes', 'server.js', { REDIS_URL: redis.url, ...PROCESSES });
  const [account] = keyFor('mallory').split('.');
  const statuses = await Promise.all(
    Array.from({ length: 300 }, async (_, i) => {
      const { status } = await fetch(server.url, { headers: { 'X-API-Key': `${account}.${i}` } });
      return status;
    }),
  );
  await server.stop();
  expect(new Set(statuses)).toEqual(new Set([401, 429]));
});

/** What the example's own flood prints. */
async function flood(server: ExampleServer, env: NodeJS.ProcessEnv) {
  const script = new URL('../../examples/cluster-of-processes/flood.js', import.meta.url).pathname;
  const { stdout } = await exec(process.execPath, [script, server.url], { env: { ...process.env, ...env } });
  const figure = (pattern: RegExp): number => Number(pattern.exec(stdout)?.[1]);
  return {
    seconds: figure(/requests in ([\d.]+) s/),
    passed: figure(/(\d+) passed/),
    processes: [...stdout.matchAll(/by process/g)].length,
    most: figure(/at most (\d+)/),
  };
}
