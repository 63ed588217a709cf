import * as core from '@sluice/core';
import * as testing from '@sluice/core/testing';
import * as express from '@sluice/express';
import * as fastify from '@sluice/fastify';
import * as koa from '@sluice/koa';
import { statusesOf } from './limited.cjs';

const limiter = core.createLimiter({
  limits: { Orders: { key: core.accountId(() => null), count: 1, period: '1h' } },
  store: core.memoryStore({ clock: new testing.FakeClock(0) }),
});
const decision = await limiter.spend([{ limit: 'Orders', id: '7', cost: 1 }]);

const entryPoints = {};
for (const name of process.argv.slice(2)) entryPoints[name] = Object.keys(await import(name)).length > 0;

const statuses = await statusesOf({ express, fastify, koa });
console.log(JSON.stringify({ outcome: decision.outcome, entryPoints, ...statuses }));
