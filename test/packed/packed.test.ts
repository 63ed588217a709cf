import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { packedManifest } from '../../scripts/tarball-checks.mjs';
import { installedBeside, installedCases, nest } from './installed.ts';
import { packedTarballs } from './tarballs.ts';

const tarballs = await packedTarballs();
afterAll(() => tarballs.remove());

const PROGRAM = ['deploy/sluice.service', 'dist/main.js'];

/** A library is built twice, as ES modules and as CommonJS; a program is not imported. */
function builtFiles(tarball: string): readonly string[] {
  const manifest = packedManifest(tarball);
  if ('bin' in manifest) return PROGRAM;
  const entries = Object.keys(manifest['exports'] as object).filter((path) => !path.endsWith('.json'));
  const names = entries.map((path) => (path === '.' ? 'index' : path.slice('./'.length)));
  const files = names.flatMap((name) => [`${name}.js`, `${name}.d.mts`, `cjs/${name}.js`, `cjs/${name}.d.ts`]);
  return [...files, 'cjs/package.json'].map((file) => `dist/${file}`);
}

describe.each(tarballs.paths.map((path) => ({ name: basename(path), path })))('the tarball $name', ({ path }) => {
  it('contains its builds, a README and the licence, and nothing of the workspace', () => {
    const files = execFileSync('tar', ['-tf', path], { encoding: 'utf8' }).trim().split('\n');
    const expected = [...builtFiles(path), 'README.md', 'LICENSE'];
    expect(expected.filter((file) => !files.includes(`package/${file}`))).toEqual([]);
    expect(
      files.filter(
        (file) => !/^package\/((deploy|dist|schema|skills|sql)\/|package\.json$|README\.md$|LICENSE$)/.test(file),
      ),
    ).toEqual([]);
  });

  it('depends on versions, and on no file of the workspace', () => {
    expect(JSON.stringify(packedManifest(path))).not.toMatch(/workspace:|\/src\//);
  });
});

it.each([
  ['core', 'ipaddr.js'],
  ['fastify', 'fastify-plugin'],
])('@sluice/%s contains %s with its licence, and does not install it', (name, part) => {
  const path = tarballs.paths.find((each) => basename(each).startsWith(`sluice-${name}-`))!;
  const licence = readFileSync(new URL(`../../packages/${name}/node_modules/${part}/LICENSE`, import.meta.url), 'utf8');
  const { dependencies = {} } = packedManifest(path) as { dependencies?: object };
  expect(Object.keys(dependencies)).not.toContain(part);
  expect(execFileSync('tar', ['-xzOf', path, 'package/dist/THIRD-PARTY.txt'], { encoding: 'utf8' })).toContain(licence);
});

it.each(['dist', 'dist/cjs'])('the stack of an error of core names its functions in %s', (build) => {
  const { createLimiter } = createRequire(import.meta.url)(
    `../../packages/core/${build}/index.js`,
  ) as typeof import('@sluice/core');
  let stack: string | undefined;
  try {
    createLimiter({ limits: { Requests: {} as never } });
  } catch (error) {
    ({ stack } = error as Error);
  }
  expect(stack).toMatch(/at createLimiter /);
  expect(stack).not.toMatch(/^ +at #?\w{1,2} /m);
});

const oldest = [
  'express@4.21',
  '@types/express@4',
  'koa@2.15',
  '@types/koa@2.15',
  'fastify@5.0',
  'hono@4.6',
  'ioredis@5.8',
  'pg@8.11',
  ...nest('10'),
];

// The newest are in loaders.test.ts.
describe('in an empty project beside the oldest peers', () => {
  installedCases(tarballs, installedBeside(tarballs, oldest));
});
