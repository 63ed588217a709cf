import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { createConnection } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { removeStaleSocket } from '../src/service/servers.ts';

/** Listens, and then accepts nothing. */
const BUSY = `require('node:net').createServer().listen({ path: process.argv[1], backlog: 1 }, () => {
  require('node:fs').writeSync(1, 'listens');
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
});`;

test('a socket whose server is too busy for another connection is in use, and one whose server was killed is removed', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-serve-'));
  const path = join(folder, 'serve.sock');
  const server = spawn(process.execPath, ['-e', BUSY, path]);
  onTestFinished(() => {
    server.kill('SIGKILL');
    rmSync(folder, { recursive: true });
  });
  await once(server.stdout, 'data');
  const waiting = Array.from({ length: 4 }, () => createConnection({ path }).on('error', () => {}));
  onTestFinished(() => waiting.forEach((socket) => void socket.destroy()));
  await removeStaleSocket(path);
  expect(existsSync(path)).toBe(true);
  server.kill('SIGKILL');
  await once(server, 'exit');
  await removeStaleSocket(path);
  expect(existsSync(path)).toBe(false);
});
