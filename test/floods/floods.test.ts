import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { sized } from '../sized.ts';

const file = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

test('a server of HTTP/2 with limits lasts while clients flood it and make errors of the protocol', async () => {
  const form = ['--kind=limited', `--runs=${sized(1, 4)}`, `--seconds=${sized(2, 10)}`];
  const program = ['--import', file('../redis/processes/typescript.mjs'), file('main.ts'), ...form];
  const { stdout } = await promisify(execFile)(process.execPath, program);
  expect(stdout).toContain('0 processes ended');
  expect(stdout).toMatch(/[1-9]\d{2,} handled/);
});
