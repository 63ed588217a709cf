import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { packAll } from '../../scripts/pack.mjs';
import { redisServer, type RedisServer } from '../redis/servers/redis-server.ts';
import { compileErrors } from './compile.ts';
import { Project } from './project.ts';

const tarballFolder = mkdtempSync(join(tmpdir(), 'sluice-tarballs-'));
const tarballs = packAll(tarballFolder);
afterAll(() => rmSync(tarballFolder, { recursive: true }));

interface Manifest {
  name: string;
  exports: Record<string, unknown>;
}

const manifests = tarballs.map((path) => JSON.parse(packedManifest(path)) as Manifest);
const entryPoints = manifests.flatMap(({ name, exports }) =>
  Object.keys(exports)
    .filter((path) => !path.endsWith('.json'))
    .map((path) => name + path.slice(1)),
);

function packedManifest(tarball: string): string {
  return execFileSync('tar', ['-xOf', tarball, 'package/package.json'], { encoding: 'utf8' });
}

describe.each(tarballs.map((path) => ({ name: basename(path), path })))('the tarball $name', ({ path }) => {
  it('holds the build, its sources, a README and the licence, and nothing of the workspace', () => {
    const files = execFileSync('tar', ['-tf', path], { encoding: 'utf8' }).trim().split('\n');
    const expected = ['dist/index.js', 'dist/index.d.ts', 'src/index.ts', 'README.md', 'LICENSE'];
    expect(expected.filter((file) => !files.includes(`package/${file}`))).toEqual([]);
    expect(
      files.filter((file) => !/^package\/((dist|src|lua|schema)\/|package\.json$|README\.md$|LICENSE$)/.test(file)),
    ).toEqual([]);
    expect(files.filter((file) => file.endsWith('.tsbuildinfo'))).toEqual([]);
  });

  it('depends on versions, not on the workspace', () => {
    expect(packedManifest(path)).not.toContain('workspace:');
  });
});

const peers = {
  oldest: ['express@4.21', '@types/express@4', 'koa@2.15', '@types/koa@2.15', 'fastify@5.0', 'ioredis@5.8'],
  newest: ['express@5', '@types/express@5', 'koa@3', '@types/koa@3', 'fastify@5', 'ioredis@6'],
};

describe.each(Object.entries(peers))('in an empty project beside the %s peers', (_age, packages) => {
  let project: Project;
  let redis: RedisServer;

  beforeAll(async () => {
    redis = await redisServer();
    project = new Project();
    await project.install([...tarballs, ...packages, '@types/node@20']);
  });
  afterAll(async () => {
    project.remove();
    await redis.stop();
  });

  const worked = {
    outcomes: { memory: 'allowed', redis: 'allowed' },
    fromFiles: { Orders: 300 },
    domain: 'example.co.uk',
    entryPoints: Object.fromEntries(entryPoints.map((name) => [name, true])),
    express: [200, 429],
    koa: [200, 429],
    fastify: [200, 429],
  };

  it('every entry point works by import', async () => {
    expect(await project.node('by-import.mjs', [redis.url, ...entryPoints])).toEqual(worked);
  });

  it('every entry point works by require', async () => {
    expect(await project.node('by-require.cjs', [redis.url, ...entryPoints])).toEqual(worked);
  });

  it('the types compile under nodenext, by import and by require', () => {
    expect(compileErrors(project.folder, ['typed.ts', 'typed-require.cts'], 'nodenext')).toEqual([]);
  });

  it('the types compile under bundler', () => {
    expect(compileErrors(project.folder, ['typed.ts'], 'bundler')).toEqual([]);
  });
});
