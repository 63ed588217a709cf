import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startProvider } from '../../examples/agents/provider.js';
import { redisServer, type RedisServer } from '../redis/servers/redis-server.ts';
import { runExample } from './example-server.ts';

let redis: RedisServer;

beforeAll(async () => {
  redis = await redisServer();
});
afterAll(() => redis.stop());

/** Runs the example to its end, and reads what the provider has seen. */
async function agents(env: NodeJS.ProcessEnv) {
  const child = runExample('agents', { file: 'agents.js', port: 0, env: { REDIS_URL: redis.url, ...env } });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk) => (output += String(chunk)));
  const [code] = (await once(child, 'close')) as [number | null];
  const [, ...counts] = /made (\d+) calls .*: (\d+) answered, (\d+) denied/.exec(output) ?? [];
  const [calls, answered, denied] = counts.map(Number);
  return { code, calls, answered, denied, output };
}

it('eight workers with one key have no call denied by a strict provider, over real sockets', async () => {
  expect(await agents({})).toMatchObject({ code: 0, calls: 96, answered: 96, denied: 0 });
});

it('the provider denies calls of the same workers without a scheduler', async () => {
  const { code, denied = 0 } = await agents({ ALONE: '1', CALLS: '40' });
  expect(code).toBe(0);
  expect(denied).toBeGreaterThan(0);
});

it('the provider says with a denial what is left, and when to come again', async () => {
  const { server } = await startProvider();
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const answers = await Promise.all(Array.from({ length: 100 }, () => fetch(url)));
  server.close();
  const denied = answers.find(({ status }) => status === 429)!;
  expect(denied.headers.get('x-ratelimit-remaining')).toBe('0');
  expect(denied.headers.get('retry-after')).toBe('1');
});
