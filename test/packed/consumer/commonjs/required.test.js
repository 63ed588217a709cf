const config = require('@sluice/config');
const core = require('@sluice/core');
const testing = require('@sluice/core/testing');
const domains = require('@sluice/domains');
const express = require('@sluice/express');
const fastify = require('@sluice/fastify');
const fetch = require('@sluice/fetch');
const hono = require('@sluice/hono');
const host = require('@sluice/host');
const koa = require('@sluice/koa');
const nestjs = require('@sluice/nestjs');
const node = require('@sluice/node');
const postgres = require('@sluice/postgres');
const redis = require('@sluice/redis');
const { decided } = require('../decided.cjs');
const { statusesOf } = require('../limited.cjs');

test('limits of a file decide in memory, on the host, on Redis and on PostgreSQL', async () => {
  const figures = await decided(
    { core, testing, config, domains, redis, host, postgres },
    { redisUrl: process.env.REDIS_URL, postgresUrl: process.env.POSTGRES_URL },
  );
  expect(figures).toEqual({
    outcomes: { memory: 'allowed', host: 'allowed', redis: 'allowed', postgres: 'allowed' },
    fromFiles: { Orders: 300 },
    domain: 'example.co.uk',
  });
});

test('each adapter limits its framework', async () => {
  expect(await statusesOf({ express, fastify, koa, node, fetch, hono, nestjs })).toEqual({
    express: [200, 429],
    fastify: [200, 429],
    koa: [200, 429],
    node: [200, 429],
    fetch: [200, 429],
    hono: [200, 429],
    nestjs: [200, 429],
  });
});

test('every entry point can be required', () => {
  for (const name of process.env.ENTRY_POINTS.split(' ')) expect(Object.keys(require(name))).not.toEqual([]);
});

test('Jest takes the CommonJS build', () => {
  expect(require.resolve('@sluice/core/http')).toMatch(/[\\/]dist[\\/]cjs[\\/]http\.js$/);
});
