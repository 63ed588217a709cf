import { rateLimit } from '@sluice/express';
import express from 'express';
import cluster from 'node:cluster';
import { createServer } from 'node:http';
import { accountOf } from './keys.js';
import { limiter, store } from './limits.js';

const app = express();

app.get('/', rateLimit({ limiter }), (req, res) => {
  const key = req.get('x-api-key');
  // Limited by its address before, so that nobody can try many keys.
  if (key !== undefined && accountOf(key) === undefined) res.status(401).json({ error: 'unknown key' });
  else res.json({ process: cluster.worker?.id, remaining: req.rateLimit?.remaining });
});

// So that Redis decides from the first request on. Without Redis the failure policy decides until it is there.
await limiter.ready({ timeoutMs: 2000 }).catch((/** @type {Error} */ error) => console.warn(error.message));

// Longer than any client keeps a connection: a request on one that just ends would fail.
const server = createServer({ keepAliveTimeout: 60_000 }, app).listen(Number(process.env.PORT ?? 3000), '127.0.0.1');

server.on('error', (/** @type {NodeJS.ErrnoException} */ error) => {
  console.error(
    error.code === 'EADDRINUSE' ? `${error.message}. Choose another port: PORT=3001 npm start` : error.message,
  );
  process.exit(1);
});

// A limiter does not close a store that it was given.
process.once('SIGTERM', () => {
  server.close(async () => {
    await limiter.close();
    await store.close();
    process.disconnect();
  });
  server.closeIdleConnections();
});
// The terminal sends it to all of its processes: the first one tells the others.
process.on('SIGINT', () => {});
