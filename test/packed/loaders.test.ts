import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { compileErrors } from './compile.ts';
import { installedBeside, installedCases, nest, expectedOutput } from './installed.ts';
import { packedTarballs } from './tarballs.ts';

// Beside the newest peers: what works beside the oldest ones too, other runtimes, and loaders that do not take ES modules, or
// resolve packages in ways of their own. They share a project, because an installation takes longer than these tests.
const tarballs = await packedTarballs();
afterAll(() => tarballs.remove());

const newest = [
  'express@5',
  '@types/express@5',
  'koa@3',
  '@types/koa@3',
  'fastify@5',
  'hono@4',
  'hono-rate-limiter@0.5',
  'ioredis@6',
  'pg@8',
  ...nest('11'),
];
const webSockets = ['ws@8', '@hono/node-server@2', '@fastify/websocket@11', 'express-ws@5', 'koa-websocket@7'];
const jest = ['jest@30', '@types/jest@30', 'ts-jest@29', 'typescript@5', 'supertest@7', '@types/supertest@7'];

describe('in an empty project beside the newest peers', () => {
  const runtimes = ['esbuild@0.28', 'workerd@1', 'bun@1', 'deno@2'];
  const installed = installedBeside(tarballs, [...newest, ...jest, ...runtimes, ...webSockets]);

  installedCases(tarballs, installed);

  it('Jest in its default mode takes every entry point, by require and by imports of TypeScript', async () => {
    const { project, urls } = installed;
    writeFileSync(join(project.folder, 'commonjs', 'documented.test.js'), documentedTest());
    const env = { REDIS_URL: urls[0], POSTGRES_URL: urls[1], ENTRY_POINTS: tarballs.entryPoints.join(' ') };
    const report = JSON.parse(await project.bin('jest', ['--config=commonjs/package.json', '--json'], env)) as unknown;
    expect(report).toMatchObject({ numPassedTests: 8, numTotalTests: 8 });
  });

  it('the types compile under node10', () => {
    expect(compileErrors(installed.project.folder, ['typed.ts'], 'node10')).toEqual([]);
  });

  it('the types compile under node16 into ES modules and into CommonJS', () => {
    const { folder } = installed.project;
    copyFileSync(join(folder, 'typed.ts'), join(folder, 'typed.cts'));
    expect(compileErrors(folder, ['typed.ts', 'typed.cts', 'typed-require.cts'], 'node16')).toEqual([]);
  });

  const esm = [
    '--format=esm',
    '--banner:js=import { createRequire } from "node:module"; var require = createRequire(import.meta.url);',
  ];

  it.each([
    ['import', 'ES modules', 'by-import.mjs', 'bundle.mjs', esm],
    ['import', 'CommonJS', 'by-import.mjs', 'bundle-of-import.cjs', ['--format=cjs']],
    ['require', 'CommonJS', 'by-require.cjs', 'bundle-of-require.cjs', ['--format=cjs']],
  ])('esbuild bundles what uses %s into %s that work', async (_loaded, _format, entry, bundle, options) => {
    const { project, urls } = installed;
    await project.bin('esbuild', [
      entry,
      '--bundle',
      '--platform=node',
      ...OPTIONAL,
      `--outfile=${bundle}`,
      ...options,
    ]);
    expect(await project.node(bundle, ...urls)).toMatchObject({
      outcomes: { memory: 'allowed', host: 'allowed', redis: 'allowed', postgres: 'allowed' },
      fromFiles: { Orders: 300 },
      express: [200, 429],
      koa: [200, 429],
      fastify: [200, 429],
    });
  });

  /** Runs the test of a Worker. It rejects when that fails. */
  const worker = async (entry: string, bundle: string, config: string): Promise<string> => {
    const { project } = installed;
    await project.bin('esbuild', [
      entry,
      '--bundle',
      '--platform=neutral',
      '--main-fields=module,main',
      '--conditions=workerd',
      '--format=esm',
      '--external:cloudflare:workers',
      '--external:node:*',
      `--outfile=worker/${bundle}`,
    ]);
    return project.bin('workerd', ['test', `worker/${config}`]);
  };

  it('core, fetch and Hono limit in a Worker, whose limiters are created while the module is loaded', async () => {
    await expect(worker('worker.mjs', 'bundle.mjs', 'config.capnp')).resolves.toBeTypeOf('string');
  });

  it('in a Worker whose store hangs, each request is answered, whoever has left, and its slots are released', async () => {
    const tested = worker('worker-requests.mjs', 'requests-bundle.mjs', 'requests.capnp');
    await expect(tested).resolves.toBeTypeOf('string');
  });

  it('in a Worker, hono-rate-limiter answers with our store as with its own, also where requests are given back', async () => {
    await expect(worker('worker-drop-in.mjs', 'drop-in-bundle.mjs', 'drop-in.capnp')).resolves.toBeTypeOf('string');
  });

  it('two instances of a Worker share the buckets of Durable Objects, which survive the end of an object', async () => {
    const tested = worker('worker/shards.mjs', 'shards-bundle.mjs', 'shards.capnp');
    await expect(tested).resolves.toBeTypeOf('string');
  });

  it('in a Durable Object, calls wait for their turns, and requests that end leave nothing; in a Worker it is an error', async () => {
    const tested = worker('worker/scheduled.mjs', 'scheduled-bundle.mjs', 'scheduled.capnp');
    await expect(tested).resolves.toBeTypeOf('string');
  });

  const HELD = ['open', 'refused', 'open'];
  const REFUSED = ['refused', 'refused', 'refused'];

  it('a slot of a WebSocket is held until it is closed, on each server of Node; koa-websocket is refused', async () => {
    expect(await installed.project.node('web-sockets.mjs')).toEqual({
      hono: HELD,
      fetch: HELD,
      fastify: HELD,
      express: HELD,
      koa: REFUSED,
      limitUpgrade: HELD,
    });
  });

  describe.each([
    ['bun', ['run']],
    ['deno', ['run', '--allow-all']],
  ])('in %s', (program, options) => {
    const printed = async (...args: string[]): Promise<unknown> =>
      JSON.parse(await installed.project.bin(program, [...options, ...args]));

    it('every entry point works by import, with each store and on each framework', async () => {
      const words = [...installed.urls, ...tarballs.entryPoints];
      expect(await printed('by-import.mjs', ...words)).toEqual(expectedOutput(tarballs));
    });

    it('limitFetch limits the server of the runtime by address, and notices clients that leave', async () => {
      expect(await printed('web-server.mjs')).toEqual({
        statuses: [200, 429, 200, 200, 429],
        slowFinished: true,
        endlessFinished: false,
      });
    });

    it('a slot of a WebSocket is held until it is closed, or refused where the end is not seen', async () => {
      const refused = [...REFUSED, 'ERR_RUNTIME'];
      const sockets = {
        bun: { fetch: HELD, hono: HELD, 'a server that is not passed on': refused },
        deno: { fetch: refused, 'fetch with slotsUntil': HELD },
      };
      expect(await printed('web-sockets.mjs')).toEqual(sockets[program as keyof typeof sockets]);
    });
  });
});

/** What Nest requires only if it is installed. */
const OPTIONAL = ['@nestjs/microservices', '@nestjs/websockets', 'class-transformer', 'class-validator'].map(
  (name) => `--external:${name}`,
);

/** The test for Jest of docs/testing.md. */
function documentedTest(): string {
  const page = readFileSync(new URL('../../docs/testing.md', import.meta.url), 'utf8');
  return /^```js\n(.*?)^```/ms.exec(page)![1]!;
}
