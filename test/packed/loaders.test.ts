import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { postgresServer } from '../postgres/postgres-server.ts';
import { redisServer, type RedisServer } from '../redis/servers/redis-server.ts';
import { compileErrors } from './compile.ts';
import { Project } from './project.ts';
import { packedTarballs } from './tarballs.ts';

// Loaders that do not take ES modules, or resolve packages in ways of their own.
const tarballs = packedTarballs();
afterAll(() => tarballs.remove());

const peers = [
  'express@5',
  '@types/express@5',
  'koa@3',
  '@types/koa@3',
  'fastify@5',
  'hono@4',
  '@nestjs/common@11',
  '@nestjs/core@11',
  '@nestjs/platform-express@11',
  'reflect-metadata@0.2',
  'rxjs@7',
  'ioredis@6',
  'pg@8',
  '@types/node@20',
];
const jest = ['jest@30', '@types/jest@30', 'ts-jest@29', 'typescript@5', 'supertest@7', '@types/supertest@7'];

describe('in an empty project', () => {
  let project: Project;
  let redis: RedisServer;
  let postgresUrl: string;

  beforeAll(async () => {
    redis = await redisServer();
    postgresUrl = (await postgresServer()).url;
    project = new Project();
    await project.install([...tarballs.paths, ...peers, ...jest, 'esbuild@0.28', 'workerd@1']);
  });
  afterAll(async () => {
    project.remove();
    await redis.stop();
  });

  it('Jest in its default mode takes every entry point, by require and by imports of TypeScript', async () => {
    writeFileSync(join(project.folder, 'commonjs', 'documented.test.js'), documentedTest());
    const env = { REDIS_URL: redis.url, POSTGRES_URL: postgresUrl, ENTRY_POINTS: tarballs.entryPoints.join(' ') };
    const report = JSON.parse(await project.bin('jest', ['--config=commonjs/package.json', '--json'], env)) as unknown;
    expect(report).toMatchObject({ numPassedTests: 7, numTotalTests: 7 });
  });

  it('the types compile under node10', () => {
    expect(compileErrors(project.folder, ['typed.ts'], 'node10')).toEqual([]);
  });

  it('the types compile under node16 into ES modules and into CommonJS', () => {
    copyFileSync(join(project.folder, 'typed.ts'), join(project.folder, 'typed.cts'));
    expect(compileErrors(project.folder, ['typed.ts', 'typed.cts', 'typed-require.cts'], 'node16')).toEqual([]);
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
    await project.bin('esbuild', [
      entry,
      '--bundle',
      '--platform=node',
      ...OPTIONAL,
      `--outfile=${bundle}`,
      ...options,
    ]);
    expect(await project.node(bundle, redis.url, postgresUrl)).toMatchObject({
      outcomes: { memory: 'allowed', host: 'allowed', redis: 'allowed', postgres: 'allowed' },
      fromFiles: { Orders: 300 },
      express: [200, 429],
      koa: [200, 429],
      fastify: [200, 429],
    });
  });

  it('core decides in a Worker, whose limiter is created while the module is loaded', async () => {
    const worker = ['--platform=neutral', '--main-fields=module,main', '--conditions=workerd', '--format=esm'];
    await project.bin('esbuild', ['worker.mjs', '--bundle', '--outfile=worker/bundle.mjs', ...worker]);
    await expect(project.bin('workerd', ['test', 'worker/config.capnp'])).resolves.toBeTypeOf('string');
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
