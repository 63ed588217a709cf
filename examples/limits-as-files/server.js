/** @import { Request } from 'express' */
import { loadLimits, watchLimits } from '@sluice/config';
import { accountId, createLimiter, ipAddress } from '@sluice/core';
import { rateLimit } from '@sluice/express';
import express from 'express';
import { createServer } from 'node:http';
import { join } from 'node:path';

/** The accounts by their API keys, which a real service looks up. The second one has an override. */
const accounts = new Map([
  ['alice-key', '1'],
  ['bob-key', '12345678'],
]);
const accountOf = (/** @type {Request} */ req) => accounts.get(req.get('x-api-key') ?? '') ?? null;

const folder = process.env.LIMITS ?? import.meta.dirname;

const loaded = await loadLimits({
  defaults: join(folder, 'limits.yaml'),
  overrides: join(folder, 'overrides.yaml'),
  keys: {
    RequestsPerIPAddress: ipAddress(),
    // Does not apply to requests without an account: they count for their address, and get 401.
    OrdersPerAccount: accountId(accountOf),
  },
});
const limiter = createLimiter({ ...loaded });
const live = watchLimits(limiter, loaded);

const app = express();

app.post('/orders', rateLimit({ limiter, limits: ['RequestsPerIPAddress', 'OrdersPerAccount'] }), (req, res) => {
  if (accountOf(req) === null) res.status(401).send('send X-API-Key: alice-key\n');
  else res.send('ordered\n');
});

// For whoever runs the service: is what I wrote what holds?
app.get('/limits', (_req, res) => {
  const { version, loadedAt, lastError } = live.status();
  res.status(lastError === undefined ? 200 : 500).json({ version, loadedAt, lastError: lastError?.message });
});

const server = createServer(app).listen(Number(process.env.PORT ?? 3000), '127.0.0.1');

server.on('listening', () => {
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  const url = `http://127.0.0.1:${port}`;
  console.log(`Listening on ${url}

Five orders where three are allowed, and five by an account that has an override:
  curl -i -X POST -H "X-API-Key: alice-key" "${url}/orders?[1-5]"
  curl -i -X POST -H "X-API-Key: bob-key" "${url}/orders?[1-5]"
Now edit limits.yaml or overrides.yaml in ${folder}, order again, and see what holds:
  curl ${url}/limits
`);
});

server.on('error', (/** @type {NodeJS.ErrnoException} */ error) => {
  console.error(
    error.code === 'EADDRINUSE' ? `${error.message}. Choose another port: PORT=3001 npm start` : error.message,
  );
  process.exitCode = 1;
});

for (const signal of ['SIGINT', 'SIGTERM']) {
  process.once(signal, () => {
    live.close();
    server.close(() => limiter.close());
  });
}
