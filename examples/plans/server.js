/** @import { NextFunction, Request, Response } from 'express' */
import { rateLimit } from '@sluice/express';
import express from 'express';
import { createServer } from 'node:http';
import { limiter, tenantOf } from './limits.js';

const app = express();
app.use(requireTenant);

// Decided together: a request that `Monthly` denies takes nothing from `Requests`.
const plan = /** @type {const} */ (['Requests', 'Monthly']);

app.get('/items', rateLimit({ limiter, limits: plan }), (req, res) => {
  const isBorrowed = req.rateLimit?.results.some(({ borrowed }) => borrowed) ?? false;
  res.json({ items: [], borrowed: isBorrowed });
});

// Denied at once when the plan is used up. Otherwise the request is held until its turn.
app.get('/export', rateLimit({ limiter, limits: [...plan, 'Exports'] }), (_req, res) => {
  res.json({ exported: true });
});

const llmTokens = {
  limit: /** @type {const} */ ('LlmTokens'),
  // Takes a few tokens before the answer, and the rest when the cost is known. A tenant in debt is denied.
  cost: 10,
  settle: (/** @type {Request} */ _req, /** @type {Response} */ res) => Number(res.locals.usedTokens ?? 0),
};
app.post('/answer', rateLimit({ limiter, limits: [...plan, llmTokens] }), (req, res) => {
  res.locals.usedTokens = Math.min(Math.max(Math.floor(Number(req.query.length)) || 100, 1), 5000);
  res.json({ answer: 'forty-two', usedTokens: res.locals.usedTokens });
});

// For a billing page. It takes no tokens, and is not limited.
app.get('/usage', async (req, res) => {
  const id = tenantOf(req)?.id ?? '';
  const [month] = await limiter.usage([{ limit: 'Monthly', id }]);
  if (month === undefined || month.count === Infinity) res.json({ unlimited: true });
  else res.json({ used: month.used, of: month.count, until: month.end });
});

/** Answers requests without a known key. */
function requireTenant(/** @type {Request} */ req, /** @type {Response} */ res, /** @type {NextFunction} */ next) {
  if (tenantOf(req) === undefined) res.status(401).json({ error: 'an X-Api-Key is needed' });
  else next();
}

const server = createServer(app);
server.on('error', (/** @type {NodeJS.ErrnoException} */ error) => {
  console.error(
    error.code === 'EADDRINUSE' ? `${error.message}. Choose another port: PORT=3001 node server.js` : error.message,
  );
  process.exitCode = 1;
});
server.listen(Number(process.env.PORT ?? 3000), '127.0.0.1', () => {
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  const url = `http://127.0.0.1:${port}`;
  console.log(`Listening on ${url}

Own tokens, then borrowed tokens, then 429:
  curl -i -H "X-Api-Key: free-key" "${url}/items?[1-10]"
The same on a larger plan:
  curl -i -H "X-Api-Key: pro-key" "${url}/items?[1-25]"
Exports wait in a queue when many arrive at once:
  curl -i -Z -H "X-Api-Key: enterprise-key" "${url}/export?[1-10]"
An answer that costs more tokens than there are, and the next one, which is denied:
  curl -i -X POST -H "X-Api-Key: pro-key" "${url}/answer?length=3000"
  curl -i -X POST -H "X-Api-Key: pro-key" "${url}/answer?length=10"
What has been used this month:
  curl -i -H "X-Api-Key: free-key" ${url}/usage
`);
});

for (const signal of ['SIGINT', 'SIGTERM']) {
  process.once(signal, () => {
    // No new connections. The requests that wait are answered with a 503.
    server.close();
    void limiter.close();
  });
}
