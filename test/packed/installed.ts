import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { postgresServer } from '../postgres/postgres-server.ts';
import { redisServer, type RedisServer } from '../redis/servers/redis-server.ts';
import { compileErrors } from './compile.ts';
import { Project } from './project.ts';
import type { Tarballs } from './tarballs.ts';

/** A project with all tarballs, and the servers that its programs use. */
export interface Installed {
  readonly project: Project;
  readonly urls: readonly [redis: string, postgres: string];
}

/** Installs all tarballs beside other packages in an empty project, before the tests of this `describe`. */
export function installedBeside(tarballs: Tarballs, packages: readonly string[]): Installed {
  const installed = {} as { -readonly [name in keyof Installed]: Installed[name] };
  let redis: RedisServer;
  beforeAll(async () => {
    redis = await redisServer();
    installed.urls = [redis.url, (await postgresServer()).url];
    installed.project = new Project();
    await installed.project.install([...tarballs.paths, ...packages, '@types/node@20']);
  });
  afterAll(async () => {
    installed.project.remove();
    await redis.stop();
  });
  return installed;
}

export function nest(version: string): readonly string[] {
  const packages = ['common', 'core', 'platform-express'].map((name) => `@nestjs/${name}@${version}`);
  return [...packages, 'reflect-metadata@0.2', 'rxjs@7'];
}

/** What by-import.mjs and by-require.cjs print when every store and adapter works. */
export function expectedOutput({ entryPoints }: Tarballs): object {
  return {
    outcomes: { memory: 'allowed', host: 'allowed', redis: 'allowed', postgres: 'allowed' },
    fromFiles: { Orders: 300 },
    domain: 'example.co.uk',
    entryPoints: Object.fromEntries(entryPoints.map((name) => [name, true])),
    express: [200, 429],
    koa: [200, 429],
    fastify: [200, 429],
    node: [200, 429],
    fetch: [200, 429],
    hono: [200, 429],
    nestjs: [200, 429],
  };
}

/** What Node and the compiler make of the packages, whatever the versions of their peers. */
export function installedCases(tarballs: Tarballs, installed: Installed): void {
  const worked = expectedOutput(tarballs);

  it('every entry point works by import', async () => {
    expect(await installed.project.node('by-import.mjs', ...installed.urls, ...tarballs.entryPoints)).toEqual(worked);
  });

  it('every entry point works by require, which gives the ES modules in Node', async () => {
    expect(await installed.project.node('by-require.cjs', ...installed.urls, ...tarballs.entryPoints)).toEqual({
      ...worked,
      build: 'dist',
    });
  });

  it('every entry point works by require where a loader takes the CommonJS build', async () => {
    const options = ['--no-experimental-require-module'];
    expect(
      await installed.project.node(...options, 'by-require.cjs', ...installed.urls, ...tarballs.entryPoints),
    ).toEqual({
      ...worked,
      build: 'dist/cjs',
    });
  });

  it('import and require give one copy, and packages work together however each was loaded', async () => {
    expect(await installed.project.node('one-copy.cjs', ...tarballs.entryPoints)).toEqual({
      different: [],
      requiredExpress: { status: 200, error: true },
      importedExpress: { status: 200, error: true },
      storeErrors: [true, true],
    });
  });

  it('the command sluice works', async () => {
    writeFileSync(
      join(installed.project.folder, 'limits.yaml'),
      'Orders: { count: 300, period: 3h, idFormat: accountId }\n',
    );
    const result: unknown = JSON.parse(await installed.project.bin('sluice', ['check', 'limits.yaml', '--json']));
    expect(result).toEqual({ problems: [] });
    expect(await installed.project.bin('sluice', ['--version'])).toMatch(/^\d+\.\d+\.\d+\n$/);
  });

  it('the types compile under nodenext, by import and by require', () => {
    expect(compileErrors(installed.project.folder, ['typed.ts', 'typed-require.cts'], 'nodenext')).toEqual([]);
  });

  // Some seconds for each project.
  it.runIf(process.env['SLUICE_ALL_BUNDLERS'] === 'yes')('the types compile under bundler', () => {
    expect(compileErrors(installed.project.folder, ['typed.ts'], 'bundler')).toEqual([]);
  });
}
