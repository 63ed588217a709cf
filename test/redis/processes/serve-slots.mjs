// Serves requests with a limit on those in progress for each account, and reports when each was.
import { accountId, createLimiter } from '@sluice/core';
import { concurrency as concurrencyLimit } from '@sluice/core/concurrency';
import { rateLimit } from '@sluice/express';
import { redisStore } from '@sluice/redis';
import express from 'express';
import { createServer } from 'node:http';

/**
 * What it gets as its only argument.
 *
 * @typedef {{ url: string, concurrency: number, expiryMs: number, longestMs: number }} ServeOrders
 */

/**
 * When each request was in progress, with the clock that all processes of a machine have in common, and how many were
 * decided by a policy.
 *
 * @typedef {{ spans: { id: string, fromMs: number, toMs: number }[], byPolicy: number }} ServeReport
 */

/** @type {ServeOrders} */
const { url, concurrency, expiryMs, longestMs } = JSON.parse(process.argv[2] ?? '');
const store = redisStore({ url, log: false });
const limiter = createLimiter({
  limits: {
    InFlight: concurrencyLimit({
      key: accountId((/** @type {import('express').Request} */ request) => request.get('x-account') ?? ''),
      concurrency,
      expiry: expiryMs,
    }),
  },
  store,
  failure: { deadlineMs: 5000 },
  log: false,
});

/** @type {ServeReport} */
const report = { spans: [], byPolicy: 0 };

function nowMs() {
  return Number(process.hrtime.bigint()) / 1e6;
}

const app = express();
app.get('/', rateLimit({ limiter }), (request, response) => {
  const span = { id: request.get('x-account') ?? '', fromMs: nowMs(), toMs: Infinity };
  if (request.rateLimit?.failure !== undefined) report.byPolicy += 1;
  report.spans.push(span);
  response.once('close', () => (span.toMs = nowMs()));
  setTimeout(() => response.end('done'), Math.random() * longestMs);
});
const server = createServer(app).listen(0, '127.0.0.1');

process.on('message', () => process.send?.(report));
process.on('disconnect', () => process.exit());
await limiter.ready();
process.send?.(/** @type {import('node:net').AddressInfo} */ (server.address()).port);
