import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const file = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

test('20,000 requests that are answered, left and cancelled in each way leave no object, timer, listener or slot', async () => {
  const form = ['--store=memory', '--requests=20000', '--growth=1.2'];
  const program = ['--import', file('../redis/processes/typescript.mjs'), file('main.ts'), ...form];
  const { stdout } = await promisify(execFile)(process.execPath, program);
  expect(stdout).not.toContain('MORE');
});
