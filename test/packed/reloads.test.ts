import { appendFileSync, cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { installedBeside, nest } from './installed.ts';
import { NextServer } from './next-server.ts';
import { packedTarballs } from './tarballs.ts';

// Modules that are evaluated more than once in a process: in several bundles, and after each edit.
const tarballs = await packedTarballs();
afterAll(() => tarballs.remove());
/** Each way of Next.js takes a minute of processor time. */
const withNext = process.env['SLUICE_ALL_BUNDLERS'] === 'yes';
const next = withNext ? ['next@16', 'react@19', 'react-dom@19'] : [];
const frameworks = [...next, 'vite@7', 'express@5', 'ioredis@6', ...nest('11')];
const installed = installedBeside(tarballs, frameworks);

it('what is made of a store is made again after each edit of a module in Vite, and has the same buckets', async () => {
  const { project, urls } = installed;
  const printed: unknown = JSON.parse(
    await project.run(process.execPath, ['vite-app/serve.mjs'], { REDIS_URL: urls[0] }),
  );
  expect(printed).toEqual({
    evaluated: 4,
    taken: [1, 2, 3, 4].map((shared) => ({ shared, fetch: shared, express: 'function', throttler: shared })),
    lines: ['Shared', 'ByFetch', 'InExpress', 'Throttler, ThrottlerBlocks'].map((names) =>
      expect.stringMatching(new RegExp(`^Sluice: The limits? ${names} (is|are) made more than once`)),
    ),
    error: 'ERR_LIMIT_IN_USE',
  });
});

const ways = [
  ['turbopack', 'external'],
  ['webpack', 'external'],
  ['turbopack', 'bundled'],
  ['webpack', 'bundled'],
] as const;

/** Lets the example know the keys of a test instead of its own: one for its figures, and those of `ready()`. */
function useKeys(file: string, key: string): void {
  const text = readFileSync(file, 'utf8');
  const own = "['alice', 'bob', 'carol', 'dave']";
  expect(text).toContain(own);
  writeFileSync(file, text.replace(own, `['${key}', ...Array.from({ length: 1200 }, (_, i) => 'ready' + i)]`));
}

describe.runIf(withNext).each(ways)('in Next.js by %s, with the packages %s,', (bundler, packages) => {
  const env = (): NodeJS.ProcessEnv => ({
    PATH: process.env['PATH'],
    REDIS_URL: installed.urls[0],
    SLUICE_EXTERNAL: packages === 'external' ? 'yes' : 'no',
    NEXT_TELEMETRY_DISABLED: '1',
  });
  const key = (form: string): string => `${form}-${bundler}-${packages}`;

  function application(form: string): string {
    const folder = join(installed.project.folder, key(form));
    cpSync(join(installed.project.folder, 'next-app'), folder, { recursive: true });
    const example = fileURLToPath(new URL('../../examples/nextjs/', import.meta.url));
    for (const name of ['app', 'lib', 'proxy.js']) cpSync(join(example, name), join(folder, name), { recursive: true });
    useKeys(join(folder, 'lib', 'limits.js'), key(form));
    return folder;
  }

  it('the proxy and two routes of a built application share the buckets', async () => {
    const folder = application('built');
    await installed.project.run(
      process.execPath,
      ['node_modules/next/dist/bin/next', 'build', folder, `--${bundler}`],
      {
        ...(env() as Record<string, string>),
      },
    );
    const server = await NextServer.start(folder, ['start'], env());
    try {
      await server.ready();
      const left: number[] = [];
      for (const path of ['orders', 'reads', 'orders', 'reads', 'orders', 'reads'] as const) {
        // oxlint-disable-next-line no-await-in-loop -- one after the other
        left.push(await server.left(key('built'), path));
      }
      expect(left).toEqual([4, 3, 2, 1, 0, 429]);
    } finally {
      await server.stop();
    }
  });

  it('they do in development, too, after edits of the module with the limits', async () => {
    const folder = application('dev');
    const server = await NextServer.start(folder, ['dev', `--${bundler}`], env());
    try {
      await server.ready();
      expect(await server.left(key('dev'), 'orders')).toBe(4);
      for (const edit of [1, 2]) {
        appendFileSync(join(folder, 'lib', 'limits.js'), `\n// edit ${edit}\n`);
        // oxlint-disable-next-line no-await-in-loop -- one after the other
        expect(await server.left(key('dev'), 'reads')).toBe(5 - 2 * edit);
        // oxlint-disable-next-line no-await-in-loop
        expect(await server.left(key('dev'), 'orders')).toBe(4 - 2 * edit);
      }
      expect(await server.left(key('dev'), 'reads')).toBe(429);
    } finally {
      await server.stop();
    }
  });
});
