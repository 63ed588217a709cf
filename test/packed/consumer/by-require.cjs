const core = require('@sluice/core');
const testing = require('@sluice/core/testing');
const express = require('@sluice/express');
const fastify = require('@sluice/fastify');
const koa = require('@sluice/koa');
const { statusesOf } = require('./limited.cjs');

async function main() {
  const limiter = core.createLimiter({
    limits: { Orders: { key: core.accountId(() => null), count: 1, period: '1h' } },
    store: core.memoryStore({ clock: new testing.FakeClock(0) }),
  });
  const decision = await limiter.spend([{ limit: 'Orders', id: '7', cost: 1 }]);

  const entryPoints = {};
  for (const name of process.argv.slice(2)) entryPoints[name] = Object.keys(require(name)).length > 0;

  const statuses = await statusesOf({ express, fastify, koa });
  console.log(JSON.stringify({ outcome: decision.outcome, entryPoints, ...statuses }));
}

main().catch((error) => {
  console.error(error);
  process.exitCode = 1;
});
