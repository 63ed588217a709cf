/** @import { Context, Next } from 'hono' */
import { serve } from '@hono/node-server';
import { getConnInfo } from '@hono/node-server/conninfo';
import { accountId, clientNetwork, createLimiter } from '@sluice/core';
import { rateLimit } from '@sluice/hono';
import { Hono } from 'hono';

/** The account of each API key. A real service looks it up when it authenticates a request. */
const accounts = new Map([['alice-key', 'alice']]);

const accountOf = (/** @type {Context} */ c) => accounts.get(c.req.header('X-API-Key') ?? '') ?? null;

const limiter = createLimiter({
  limits: {
    RequestsPerClient: { key: clientNetwork(), burst: 20, count: 5, period: '1s' },
    WorkPerAccount: { key: accountId(accountOf), burst: 20, count: 2, period: '1s' },
  },
});

/** The address of the connection. Behind a proxy, list that proxy in the option `trustedProxies` of the limiter. */
const address = (/** @type {Context} */ c) => getConnInfo(c).remote.address;

/** One middleware, one decision: a request takes tokens from both limits, or from none. */
const work = (cost = 1) =>
  rateLimit({ limiter, limits: ['RequestsPerClient', { limit: 'WorkPerAccount', cost }], address });
const perClient = rateLimit({ limiter, limits: ['RequestsPerClient'], address });

const app = new Hono();
app.get('/', perClient, (c) => c.text(`${c.var.rateLimit?.remaining} requests left\n`));
app.get('/orders', work(), requireAccount, (c) => c.json({ orders: [] }));
app.get('/report', work(8), requireAccount, (c) => c.json({ report: 'all is well' }));
// What no route answers is limited too.
app.all('*', perClient, (c) => c.notFound());

/** Answers requests without a known key. They have taken from the limit of the client, so guessing keys is limited too. */
async function requireAccount(/** @type {Context} */ c, /** @type {Next} */ next) {
  if (accountOf(c) === null) return c.text('send X-API-Key: alice-key\n', 401);
  return next();
}

const options = { fetch: app.fetch, port: Number(process.env.PORT ?? 3000), hostname: '127.0.0.1' };
const server = serve(options, ({ port }) => {
  const url = `http://127.0.0.1:${port}`;
  console.log(`Listening on ${url}

One request, with its rate limit fields:
  curl -i ${url}/
Three reports of cost 8 from an account that has 20 tokens. The third is denied:
  curl -i -H "X-API-Key: alice-key" "${url}/report?[1-3]"
More requests than the burst of 20. The last ones are denied; after Retry-After seconds one is allowed again:
  curl -i "${url}/?[1-25]"
`);
});

server.on('error', (/** @type {NodeJS.ErrnoException} */ error) => {
  console.error(
    error.code === 'EADDRINUSE' ? `${error.message}. Choose another port: PORT=3001 node server.js` : error.message,
  );
  process.exitCode = 1;
});

for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => server.close(() => limiter.close()));
