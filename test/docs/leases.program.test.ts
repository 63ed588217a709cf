// oxlint-disable-next-line import/no-unassigned-import -- ends the servers of each test
import '../redis/servers/teardown.ts';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { expect, it } from 'vitest';
import { redisServer } from '../redis/servers/redis-server.ts';
import { blocksOf } from './blocks.ts';

it('two processes of the first block of docs/leases.md let through the limit, and at most its overshoot more', async () => {
  const redis = await redisServer();
  const startMs = performance.now();
  const printed = await Promise.all([printedBy(redis.url), printedBy(redis.url)]);
  const seconds = (performance.now() - startMs) / 1000;
  const figures = printed.map(
    (line) => /^(\d+) of 1000 requests passed, with (\d+) calls to Redis\n$/.exec(line) ?? [line],
  );
  const passed = figures.reduce((sum, [, count]) => sum + Number(count), 0);
  expect(figures.map(([, count]) => Number(count))).not.toContain(0);
  expect(passed).toBeGreaterThan(200);
  expect(passed).toBeLessThanOrEqual(200 + 100 * seconds + 20);
});

/** Runs the block in a process of its own, and returns what it prints. */
async function printedBy(redisUrl: string): Promise<string> {
  const { outputText } = ts.transpileModule(blocksOf('docs/leases.md')[0]!.code, {
    compilerOptions: { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022 },
  });
  const child = spawn(process.execPath, ['--input-type=module', '--eval', outputText], {
    cwd: fileURLToPath(new URL('..', import.meta.url)),
    env: { ...process.env, NODE_OPTIONS: '', REDIS_URL: redisUrl },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  // On a busy machine it logs that Redis is late, and goes on.
  const [out, errors, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]);
  expect([code, errors.replaceAll(/^Sluice: .*\n/gm, '')]).toEqual([0, '']);
  return out;
}
