import { expect, test } from 'vitest';
import { commandLines, installLines } from '../../scripts/install-lines.mjs';

const names = [
  'ai',
  'cli',
  'config',
  'core',
  'domains',
  'drop-in',
  'express',
  'fastify',
  'fetch',
  'hono',
  'host',
  'koa',
  'nestjs',
  'node',
  'opentelemetry',
  'outgoing',
  'postgres',
  'redis',
  'serve',
];
const packedIn = (folder: string) => names.map((name) => `${folder}/sluice-${name}-0.1.0.tgz`);

test('each framework has one line to paste, with the core, and each other package one to add', () => {
  expect(installLines(packedIn('/sluice'))).toEqual([
    '# Express',
    'npm install /sluice/sluice-core-0.1.0.tgz /sluice/sluice-express-0.1.0.tgz express',
    '# Koa',
    'npm install /sluice/sluice-core-0.1.0.tgz /sluice/sluice-koa-0.1.0.tgz koa',
    '# Fastify',
    'npm install /sluice/sluice-core-0.1.0.tgz /sluice/sluice-fastify-0.1.0.tgz fastify',
    '# NestJS',
    'npm install /sluice/sluice-core-0.1.0.tgz /sluice/sluice-drop-in-0.1.0.tgz /sluice/sluice-nestjs-0.1.0.tgz',
    '# Hono',
    'npm install /sluice/sluice-core-0.1.0.tgz /sluice/sluice-fetch-0.1.0.tgz /sluice/sluice-hono-0.1.0.tgz hono @hono/node-server',
    '# Request and Response',
    'npm install /sluice/sluice-core-0.1.0.tgz /sluice/sluice-fetch-0.1.0.tgz',
    '# node:http and node:http2',
    'npm install /sluice/sluice-core-0.1.0.tgz /sluice/sluice-node-0.1.0.tgz',
    '# add for limits in Redis',
    'npm install /sluice/sluice-core-0.1.0.tgz /sluice/sluice-redis-0.1.0.tgz ioredis',
    '# add for limits that the processes of a host share',
    'npm install /sluice/sluice-core-0.1.0.tgz /sluice/sluice-host-0.1.0.tgz',
    '# add for limits in PostgreSQL',
    'npm install /sluice/sluice-core-0.1.0.tgz /sluice/sluice-postgres-0.1.0.tgz pg',
    '# add for stores of other rate limiters',
    'npm install /sluice/sluice-core-0.1.0.tgz /sluice/sluice-drop-in-0.1.0.tgz',
    '# add for budgets for language models',
    'npm install /sluice/sluice-core-0.1.0.tgz /sluice/sluice-ai-0.1.0.tgz ai',
    '# add for calls to an API that limits you',
    'npm install /sluice/sluice-core-0.1.0.tgz /sluice/sluice-outgoing-0.1.0.tgz',
    '# add for limits in files',
    'npm install /sluice/sluice-core-0.1.0.tgz /sluice/sluice-config-0.1.0.tgz',
    '# add for limits by domain name',
    'npm install /sluice/sluice-core-0.1.0.tgz /sluice/sluice-domains-0.1.0.tgz',
    '# add for metrics and traces',
    'npm install /sluice/sluice-core-0.1.0.tgz /sluice/sluice-opentelemetry-0.1.0.tgz @opentelemetry/api',
  ]);
});

test('the command has a line that installs it, and one that runs it once', () => {
  expect(commandLines('/sluice/sluice.tgz')).toEqual([
    '# the command sluice, in all folders',
    'npm install --global /sluice/sluice.tgz',
    '# or once, without installing it',
    'npx --yes -p /sluice/sluice.tgz sluice --help',
  ]);
});

test('a folder with spaces in its name is quoted', () => {
  expect(installLines(packedIn('/my clone'))[1]).toBe(
    'npm install "/my clone/sluice-core-0.1.0.tgz" "/my clone/sluice-express-0.1.0.tgz" express',
  );
});

test('a package that was not packed is an error that names it', () => {
  expect(() => installLines(packedIn('/sluice').filter((path) => !path.includes('config')))).toThrow(
    'There is no tarball of @sluice/config.',
  );
});
