/** @import { Response } from 'express' */
import { clientNetwork, createLimiter, everyone } from '@sluice/core';
import { concurrency } from '@sluice/core/concurrency';
import { metricsText, top } from '@sluice/core/metrics';
import { rateLimit } from '@sluice/express';
import { redisStore } from '@sluice/redis';
import express from 'express';
import { createServer } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';

const { REDIS_URL } = process.env;

const limiter = createLimiter({
  limits: {
    Requests: { key: clientNetwork(), burst: 20, count: 10, period: '1s' },
    Reports: { key: everyone(), burst: 2, count: 5, period: '1s', maxWait: '2s' },
    InFlight: concurrency({ key: everyone(), concurrency: 100 }),
  },
  ...(REDIS_URL !== undefined && { store: redisStore({ url: REDIS_URL }) }),
});
// From here on, all is counted, and also who is denied.
metricsText(limiter);
top(limiter, 'Requests');

const app = express();

// Before the limits, so that monitoring is never denied. Do not let clients reach it: bind it to another port in production.
app.get('/metrics', (_req, res) => {
  res.type('text/plain; version=0.0.4').send(metricsText(limiter));
});
app.get('/top', (_req, res) => {
  res.json(top(limiter, 'Requests', { n: 10 }));
});

app.get('/', rateLimit({ limiter, limits: ['Requests', 'InFlight'] }), async (_req, res) => {
  await delay(20);
  res.send('hello\n');
});
app.get('/report', rateLimit({ limiter, limits: ['Reports'] }), (_req, /** @type {Response} */ res) => {
  res.json({ report: 'a lot of work' });
});

const server = createServer(app).listen(Number(process.env.PORT ?? 3000), '127.0.0.1');

server.on('listening', () => {
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  const url = `http://127.0.0.1:${port}`;
  console.log(`Listening on ${url}

More requests than the burst of 20. The last ones are denied:
  curl -s -o /dev/null -w '%{http_code} ' "${url}/?[1-30]"
What Prometheus reads:
  curl ${url}/metrics
Who was denied most, from the first call on:
  curl ${url}/top
`);
});

server.on('error', (/** @type {NodeJS.ErrnoException} */ error) => {
  console.error(
    error.code === 'EADDRINUSE' ? `${error.message}. Choose another port: PORT=3001 node server.js` : error.message,
  );
  process.exitCode = 1;
});

for (const signal of ['SIGINT', 'SIGTERM'])
  process.once(signal, () => server.close(() => void limiter.close({ store: true })));
