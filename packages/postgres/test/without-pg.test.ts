import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';

// Modules that resolve as if pg were not installed.
const HOOK = `export async function resolve(name, context, next) {
  if (name !== 'pg') return next(name, context);
  throw Object.assign(new Error("Cannot find package 'pg'"), { code: 'ERR_MODULE_NOT_FOUND' });
}`;
const REGISTER = `import { register } from 'node:module';
register(${JSON.stringify(`data:text/javascript,${encodeURIComponent(HOOK)}`)});`;
// Its time stands still: what waits for it never ends, and the process ends without a word.
const PROGRAM = `import { postgresStore } from '@sluice/postgres';
import { FakeTime } from '@sluice/core/testing';
const store = postgresStore({ connectionString: 'postgres://127.0.0.1:1/none', time: new FakeTime() });
for (let i = 0; i < 2; i++) await store.ready().catch(({ code, message }) => console.log(code, message));
await store.close();
console.log('closed');`;

test('without pg nothing waits: the error is there at once and each time, and says what to install', () => {
  const args = [
    '--import',
    `data:text/javascript,${encodeURIComponent(REGISTER)}`,
    '--input-type=module',
    '-e',
    PROGRAM,
  ];
  const output = execFileSync(process.execPath, args, {
    cwd: new URL('.', import.meta.url),
    encoding: 'utf8',
    env: { ...process.env, NODE_OPTIONS: '' },
  });
  const [first = '', second, last] = output.split('\n');
  expect(first).toMatch(/^ERR_STORE_UNAVAILABLE .*needs the package pg.*Cannot find package 'pg'.*npm install pg/);
  expect([second, last]).toEqual([first, 'closed']);
});
