/** @import { NextFunction, Request, Response } from 'express' */
import { rateLimit } from '@sluice/express';
import express from 'express';
import { createServer } from 'node:http';
import { limiter, tenantOf } from './limits.js';

const app = express();
app.use(requireTenant);

// Decided together: a request that the month denies takes nothing from the rate.
const plan = /** @type {const} */ (['Requests', 'Monthly']);

app.get('/items', rateLimit({ limiter, limits: plan }), (req, res) => {
  const isBorrowed = req.rateLimit?.results.some(({ borrowed }) => borrowed) ?? false;
  res.json({ items: [], borrowed: isBorrowed });
});

// Denied at once when the plan is used up; otherwise the request is held until it is its turn.
app.get('/export', rateLimit({ limiter, limits: [...plan, 'Exports'] }), (_req, res) => {
  res.json({ exported: true, atMs: performance.now() });
});

const llmTokens = {
  limit: /** @type {const} */ ('LlmTokens'),
  // A little before the answer, the rest when its cost is known. A tenant in debt is denied until it has paid back.
  cost: 10,
  settle: (/** @type {Request} */ _req, /** @type {Response} */ res) => Number(res.locals.usedTokens ?? 0),
};
app.post('/answer', rateLimit({ limiter, limits: [...plan, llmTokens] }), (req, res) => {
  res.locals.usedTokens = Math.min(Math.max(Math.floor(Number(req.query.length)) || 100, 1), 5000);
  res.json({ answer: 'forty-two', usedTokens: res.locals.usedTokens });
});

// For a billing page. It takes nothing, and is not limited.
app.get('/usage', async (req, res) => {
  const id = tenantOf(req)?.id ?? '';
  const { results } = await limiter.check([{ limit: 'Monthly', id, cost: 0 }]);
  const [month] = results;
  res.json(month === undefined ? { unlimited: true } : { used: month.count - month.remaining, of: month.count });
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

Own tokens, then borrowed ones, then 429:
  curl -i -H "X-Api-Key: free-key" "${url}/items?[1-10]"
The same, with more of both:
  curl -i -H "X-Api-Key: pro-key" "${url}/items?[1-25]"
Exports wait for their turn; send many at once to see it:
  curl -i -Z -H "X-Api-Key: enterprise-key" "${url}/export?[1-10]"
An answer that costs more than the budget has, and the next one:
  curl -i -X POST -H "X-Api-Key: pro-key" "${url}/answer?length=3000"
  curl -i -X POST -H "X-Api-Key: pro-key" "${url}/answer?length=10"
What is left of the month:
  curl -i -H "X-Api-Key: free-key" ${url}/usage
`);
});

for (const signal of ['SIGINT', 'SIGTERM']) {
  process.once(signal, () => {
    // Requests in line are answered, new ones get no connection.
    server.close();
    void limiter.close();
  });
}
