import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';

// Modules that resolve as if pg were not installed.
const HOOK = `export async function resolve(name, context, next) {
  if (name !== 'pg') return next(name, context);
  throw Object.assign(new Error("Cannot find package 'pg'"), { code: 'ERR_MODULE_NOT_FOUND' });
}`;
const REGISTER = `import { register } from 'node:module';
register(${JSON.stringify(`data:text/javascript,${encodeURIComponent(HOOK)}`)});`;
// The first import starts the thread of the hook, which may take long.
const PROGRAM = `import { postgresStore } from '@sluice/postgres';
await import('pg').catch(() => undefined);
const store = postgresStore({ connectionString: 'postgres://127.0.0.1:1/none' });
store.ready({ timeoutMs: 1500 }).catch(({ code, message }) => console.log(code, message)).then(() => store.close());`;

test('without pg the error says what to install', () => {
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
  expect(output).toMatch(/^ERR_STORE_UNAVAILABLE .*needs the package pg.*Cannot find package 'pg'.*npm install pg/);
});
