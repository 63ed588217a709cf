import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { postgresServer } from '../postgres/postgres-server.ts';
import { redisServer, type RedisServer } from '../redis/servers/redis-server.ts';
import { compileErrors } from './compile.ts';
import { Project } from './project.ts';
import { packedManifest, packedTarballs } from './tarballs.ts';

const tarballs = packedTarballs();
afterAll(() => tarballs.remove());

/** A library is built twice, as ES modules and as CommonJS; a program is not imported. */
const LIBRARY = [
  ...['dist', 'dist/cjs'].flatMap((build) => [`${build}/index.js`, `${build}/index.d.ts`]),
  'dist/cjs/package.json',
  'src/index.ts',
];
const PROGRAM = ['dist/main.js', 'src/main.ts'];

function isProgram(tarball: string): boolean {
  return 'bin' in (JSON.parse(packedManifest(tarball)) as object);
}

describe.each(tarballs.paths.map((path) => ({ name: basename(path), path })))('the tarball $name', ({ path }) => {
  it('contains its builds, its sources, a README and the licence, and nothing of the workspace', () => {
    const files = execFileSync('tar', ['-tf', path], { encoding: 'utf8' }).trim().split('\n');
    const expected = [...(isProgram(path) ? PROGRAM : LIBRARY), 'README.md', 'LICENSE'];
    expect(expected.filter((file) => !files.includes(`package/${file}`))).toEqual([]);
    expect(
      files.filter((file) => !/^package\/((dist|src|schema|sql)\/|package\.json$|README\.md$|LICENSE$)/.test(file)),
    ).toEqual([]);
    expect(files.filter((file) => file.endsWith('.tsbuildinfo'))).toEqual([]);
  });

  it('depends on versions, not on the workspace', () => {
    expect(packedManifest(path)).not.toContain('workspace:');
  });
});

function nest(version: string): readonly string[] {
  const packages = ['common', 'core', 'platform-express'].map((name) => `@nestjs/${name}@${version}`);
  return [...packages, 'reflect-metadata@0.2', 'rxjs@7'];
}

const peers = {
  oldest: [
    'express@4.21',
    '@types/express@4',
    'koa@2.15',
    '@types/koa@2.15',
    'fastify@5.0',
    'hono@4.6',
    'ioredis@5.8',
    'pg@8.11',
    ...nest('10'),
  ],
  newest: [
    'express@5',
    '@types/express@5',
    'koa@3',
    '@types/koa@3',
    'fastify@5',
    'hono@4',
    'ioredis@6',
    'pg@8',
    ...nest('11'),
  ],
};

describe.each(Object.entries(peers))('in an empty project beside the %s peers', (_age, packages) => {
  let project: Project;
  let redis: RedisServer;
  let urls: readonly [redis: string, postgres: string];

  beforeAll(async () => {
    redis = await redisServer();
    urls = [redis.url, (await postgresServer()).url];
    project = new Project();
    await project.install([...tarballs.paths, ...packages, '@types/node@20']);
  });
  afterAll(async () => {
    project.remove();
    await redis.stop();
  });

  const worked = {
    outcomes: { memory: 'allowed', host: 'allowed', redis: 'allowed', postgres: 'allowed' },
    fromFiles: { Orders: 300 },
    domain: 'example.co.uk',
    entryPoints: Object.fromEntries(tarballs.entryPoints.map((name) => [name, true])),
    express: [200, 429],
    koa: [200, 429],
    fastify: [200, 429],
    node: [200, 429],
    fetch: [200, 429],
    hono: [200, 429],
    nestjs: [200, 429],
  };

  it('every entry point works by import', async () => {
    expect(await project.node('by-import.mjs', ...urls, ...tarballs.entryPoints)).toEqual(worked);
  });

  it('every entry point works by require, which gives the ES modules in Node', async () => {
    expect(await project.node('by-require.cjs', ...urls, ...tarballs.entryPoints)).toEqual({
      ...worked,
      build: 'dist',
    });
  });

  it('every entry point works by require where a loader takes the CommonJS build', async () => {
    const options = ['--no-experimental-require-module'];
    expect(await project.node(...options, 'by-require.cjs', ...urls, ...tarballs.entryPoints)).toEqual({
      ...worked,
      build: 'dist/cjs',
    });
  });

  it('import and require give one copy, and packages work together however each was loaded', async () => {
    expect(await project.node('one-copy.cjs', ...tarballs.entryPoints)).toEqual({
      different: [],
      requiredExpress: { status: 200, error: true },
      importedExpress: { status: 200, error: true },
    });
  });

  it('the command sluice works', async () => {
    writeFileSync(join(project.folder, 'limits.yaml'), 'Orders: { count: 300, period: 3h, idFormat: accountId }\n');
    const result: unknown = JSON.parse(await project.bin('sluice', ['check', 'limits.yaml', '--json']));
    expect(result).toEqual({ problems: [] });
    expect(await project.bin('sluice', ['--version'])).toMatch(/^\d+\.\d+\.\d+\n$/);
  });

  it('the types compile under nodenext, by import and by require', () => {
    expect(compileErrors(project.folder, ['typed.ts', 'typed-require.cts'], 'nodenext')).toEqual([]);
  });

  it('the types compile under bundler', () => {
    expect(compileErrors(project.folder, ['typed.ts'], 'bundler')).toEqual([]);
  });
});
