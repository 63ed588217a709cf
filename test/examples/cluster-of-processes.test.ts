import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { redisServer, type RedisServer } from '../redis/servers/redis-server.ts';
import { ExampleServer } from './example-server.ts';

const exec = promisify(execFile);

let redis: RedisServer;
let server: ExampleServer;

beforeAll(async () => {
  redis = await redisServer();
  server = await ExampleServer.start('cluster-of-processes', 'server.js', { REDIS_URL: redis.url });
});
afterAll(async () => {
  await server.stop();
  await redis.stop();
});

it('lets no more through than one process would, whichever process gets the requests', async () => {
  // The first flood is for the processes to get warm.
  await flood();
  const { passed, processes, most } = await flood();
  expect(passed).toBeGreaterThanOrEqual(100);
  expect(passed).toBeLessThanOrEqual(most);
  expect(processes).toBeGreaterThan(1);
});

it('ends on SIGTERM', async () => {
  expect(await server.stop()).toBe(0);
  expect(server.output).not.toMatch(/error/i);
});

/** What the example's own flood prints. */
async function flood() {
  const script = new URL('../../examples/cluster-of-processes/flood.js', import.meta.url).pathname;
  const { stdout } = await exec(process.execPath, [script, server.url]);
  const figure = (pattern: RegExp): number => Number(pattern.exec(stdout)?.[1]);
  return {
    passed: figure(/(\d+) passed/),
    processes: [...stdout.matchAll(/by process/g)].length,
    most: figure(/at most (\d+)/),
  };
}
