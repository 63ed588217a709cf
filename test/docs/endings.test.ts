// oxlint-disable-next-line import/no-unassigned-import -- ends the servers of each test
import '../redis/servers/teardown.ts';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { expect, it, onTestFinished } from 'vitest';
import { postgresServer } from '../postgres/postgres-server.ts';
import { redisServer } from '../redis/servers/redis-server.ts';
import { blocksOf, pages, type Block } from './blocks.ts';

const closing = pages()
  .flatMap(blocksOf)
  .filter(({ code }) => /\blimiter\.close\(/.test(code));

it.each(closing.map((block) => [`${block.page}:${block.line}`, block] as const))(
  'the process of %s ends by itself after it has closed its limiter',
  async (_place, block) => {
    const { port } = await redisServer();
    const folder = mkdtempSync(join(tmpdir(), 'sluice-ending-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const postgres = block.code.includes('postgresStore') ? { DATABASE_URL: (await postgresServer()).url } : {};
    const program = spawn(process.execPath, ['--input-type=module', '-'], {
      cwd: fileURLToPath(new URL('.', import.meta.url)),
      env: { ...process.env, PORT: '0', BUCKETS: join(folder, 'buckets.bin'), ...postgres },
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    program.stdin.end(programOf(block, port));
    onTestFinished(() => void program.kill('SIGKILL'));
    const ended = once(program, 'exit');
    if (block.code.includes('SIGTERM')) {
      for await (const line of createInterface(program.stdout)) if (line === 'begun') program.kill('SIGTERM');
    }
    expect(await ended).toEqual([0, null]);
  },
);

it('are many', () => expect(closing.length).toBeGreaterThan(4));

/** The block in JavaScript, on a Redis and a port of this test. It prints a line when it has begun. */
function programOf({ code }: Block, redisPort: number): string {
  const begun = `${code}\nconsole.log('begun');\n`;
  const { outputText } = ts.transpileModule(
    begun
      .replace('new Redis()', `new Redis(${redisPort})`)
      .replace(':6379', `:${redisPort}`)
      .replace('listen(3000)', 'listen(0)'),
    { compilerOptions: { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022 } },
  );
  return outputText;
}
