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
const { decided } = require('./decided.cjs');
const { statusesOf } = require('./limited.cjs');

async function main() {
  const [redisUrl, postgresUrl, ...names] = process.argv.slice(2);
  const figures = await decided({ core, testing, config, domains, redis, host, postgres }, { redisUrl, postgresUrl });

  const entryPoints = {};
  for (const name of names) entryPoints[name] = Object.keys(require(name)).length > 0;

  const statuses = await statusesOf({ express, fastify, koa, node, fetch, hono, nestjs });
  const build = /\/core\/(.*)\/index\.js$/.exec(require.resolve('@sluice/core'))[1];
  console.log(JSON.stringify({ ...figures, entryPoints, ...statuses, build }));
}

main().catch((error) => {
  console.error(error);
  process.exitCode = 1;
});
