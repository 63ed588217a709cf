import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import request, { type Response } from 'supertest';
import ts from 'typescript';
import { onTestFinished } from 'vitest';
import { realDelay } from '../real-delay.ts';
import { reservedPort } from '../redis/servers/port.ts';

const LISTENS = /\b3000\b/;

/** Runs a block that listens on port 3000 as a module of its own, on another port, until it has answered `GET /`. */
export async function blockServer(block: string): Promise<{ url: string; answer: Response }> {
  const port = await reservedPort();
  const url = `http://127.0.0.1:${port}`;
  return { url, answer: await answerOf(block.replace(LISTENS, String(port)), url) };
}

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
