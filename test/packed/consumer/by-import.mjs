import * as config from '@sluice/config';
import * as core from '@sluice/core';
import * as testing from '@sluice/core/testing';
import * as domains from '@sluice/domains';
import * as express from '@sluice/express';
import * as fastify from '@sluice/fastify';
import * as fetch from '@sluice/fetch';
import * as hono from '@sluice/hono';
import * as host from '@sluice/host';
import * as koa from '@sluice/koa';
import * as nestjs from '@sluice/nestjs';
import * as node from '@sluice/node';
import * as postgres from '@sluice/postgres';
import * as redis from '@sluice/redis';
import { decided } from './decided.cjs';
import { statusesOf } from './limited.cjs';

async function main() {
  const [redisUrl, postgresUrl, ...names] = process.argv.slice(2);
  const figures = await decided({ core, testing, config, domains, redis, host, postgres }, { redisUrl, postgresUrl });

  const entryPoints = {};
  for (const name of names) entryPoints[name] = Object.keys(await import(name)).length > 0;

  const statuses = await statusesOf({ express, fastify, koa, node, fetch, hono, nestjs });
  console.log(JSON.stringify({ ...figures, entryPoints, ...statuses }));
}

main().catch((error) => {
  console.error(error);
  process.exitCode = 1;
});
