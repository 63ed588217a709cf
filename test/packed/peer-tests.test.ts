import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

const script = fileURLToPath(new URL('../../scripts/peer-tests.mjs', import.meta.url));

it('of the tests of @fastify/rate-limit over our store, those fail that are listed with a reason', async () => {
  // It ends with 1 if others fail.
  const { stdout } = await promisify(execFile)(process.execPath, [script, '@fastify/rate-limit']);
  expect(stdout).toContain('79 of 97 tests pass');
});
