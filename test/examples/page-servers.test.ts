import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import request, { type Response } from 'supertest';
import ts from 'typescript';
import { expect, it, onTestFinished } from 'vitest';
import { blocksOf, pages } from '../docs/blocks.ts';
import { realDelay } from '../real-delay.ts';
import { reservedPort } from '../redis/servers/port.ts';

const LISTENS = /\b3000\b/;
/** Blocks that listen by a line of code, not in a comment, and need no other server. */
const servers = pages()
  .flatMap(blocksOf)
  .filter(({ code }) => /^[^/*\n]*\.listen\(.*3000/m.test(code) && !code.includes('@sluice/redis'));

it('there are such blocks for all three frameworks', () => {
  for (const framework of ['express', 'koa', 'fastify']) {
    expect(servers.some(({ code }) => code.includes(`@sluice/${framework}`))).toBe(true);
  }
});

it.each(servers)('the server of $page, line $line, runs and reports its limits', async ({ code }) => {
  const port = await reservedPort();
  const response = await answerOf(code.replace(LISTENS, String(port)), `http://127.0.0.1:${port}`);
  expect(response.get('RateLimit')).toMatch(/^"\w+";r=\d+;t=\d+$/);
});

/** Runs a block as a module of its own, until it has answered. */
async function answerOf(code: string, url: string): Promise<Response> {
  const { outputText } = ts.transpileModule(code, {
    compilerOptions: { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022 },
  });
  const child = spawn(process.execPath, ['--input-type=module', '--eval', outputText], {
    cwd: fileURLToPath(new URL('..', import.meta.url)),
    env: { ...process.env, NODE_OPTIONS: '' },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  onTestFinished(() => void child.kill());
  let complaints = '';
  child.stderr.on('data', (chunk) => (complaints += String(chunk)));
  for (;;) {
    const response = await request(url)
      .get('/')
      .catch(() => undefined);
    if (response !== undefined) return response;
    if (child.exitCode !== null) throw new Error(complaints);
    await realDelay(50);
  }
}
