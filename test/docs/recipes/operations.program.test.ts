// oxlint-disable-next-line import/no-unassigned-import -- ends the servers of each test
import '../../redis/servers/teardown.ts';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { pino } from 'pino';
import { expect, it } from 'vitest';
import { redisServer } from '../../redis/servers/redis-server.ts';
import { limitedApp } from '../code/recipes/pino.ts';
import { app } from '../code/recipes/prometheus.ts';
import { serve } from '../serve.ts';

const NOBODY = 'redis://127.0.0.1:1';
const bucket = ['OrdersPerAccount', '12345678'];

it('an operator’s script charges, shows and resets a bucket of the servers', async () => {
  const { url } = await redisServer();
  expect((await operator(url, 'charge', ...bucket, '40')).printed).toContain('remaining: 260');
  expect((await operator(url, 'check', ...bucket)).printed).toContain('remaining: 260');
  expect(await operator(url, 'reset', ...bucket)).toEqual({ code: 0, printed: '' });
  expect((await operator(url, 'check', ...bucket)).printed).toContain('remaining: 300');
});

it('an operator’s script fails with the reason when it is used wrongly, or when there is no answer', async () => {
  const { url } = await redisServer();
  const [typo, usage, alone] = await Promise.all([
    operator(url, 'check', 'OrdersPerAcount', '12345678'),
    operator(url),
    operator(NOBODY, 'check', ...bucket),
  ]);
  expect(typo).toMatchObject({ code: 1, printed: expect.stringContaining('OrdersPerAcount') });
  expect(usage).toMatchObject({ code: 1, printed: expect.stringContaining('Usage:') });
  expect(alone).toMatchObject({ code: 1, printed: expect.stringContaining('ECONNREFUSED') });
});

it('Prometheus: decisions are counted by limit and outcome', async () => {
  const url = await serve(app);
  const all = await Promise.all(Array.from({ length: 150 }, () => fetch(url)));
  const denied = all.filter(({ status }) => status === 429).length;
  const metrics = await (await fetch(`${url}/metrics`)).text();
  expect(metrics).toContain(`rate_limit_decisions_total{limit="default",outcome="allowed"} ${150 - denied}\n`);
  expect(metrics).toContain(`rate_limit_decisions_total{limit="default",outcome="denied"} ${denied}\n`);
});

it('pino: a log line of the limiter is a warning', async () => {
  const lines: unknown[] = [];
  const url = await serve(limitedApp(pino({}, { write: (line) => lines.push(JSON.parse(line)) })));
  // From a peer that looks like a proxy, while `trustedProxies` is unset.
  await fetch(url, { headers: { 'X-Forwarded-For': '203.0.113.7' } });
  expect(lines).toMatchObject([{ level: 40, msg: expect.stringContaining('trustedProxies') }]);
});

/** Runs the script in a process of its own. */
async function operator(redis: string, ...args: string[]): Promise<{ code: number | null; printed: string }> {
  const loader = new URL('../../redis/processes/typescript.mjs', import.meta.url).href;
  const script = fileURLToPath(new URL('../code/recipes/operator.ts', import.meta.url));
  const env = { ...process.env, NODE_OPTIONS: '', REDIS_URL: redis };
  const child = spawn(process.execPath, ['--import', loader, script, ...args], { env });
  const [out, error, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]);
  return { code, printed: out + error };
}
