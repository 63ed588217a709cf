import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { sized } from '../sized.ts';

const file = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

const REQUESTS = sized(8000, 20_000);

test(`${REQUESTS} requests that are answered, left and cancelled in each way leave no object, timer, listener or slot`, async () => {
  const form = ['--store=memory', `--requests=${REQUESTS}`, '--growth=1.2'];
  const program = ['--import', file('../redis/processes/typescript.mjs'), file('main.ts'), ...form];
  const { stdout } = await promisify(execFile)(process.execPath, program);
  expect(stdout).not.toContain('MORE');
});
