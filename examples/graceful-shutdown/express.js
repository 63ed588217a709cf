import { rateLimit } from '@sluice/express';
import express from 'express';
import { createServer } from 'node:http';
import { answer, billed } from './answer.js';
import { IN_ADVANCE, limiter } from './limits.js';
import { listen } from './listen.js';

const app = express();

const tokens = rateLimit({ limiter, limits: [{ limit: 'TokensPerClient', cost: IN_ADVANCE, settle: billed }] });
app.get('/', tokens, (_req, res) => {
  answer().pipe(res);
});

const server = createServer(app);
await listen(server);

process.once('SIGTERM', () => {
  // No new connections. Requests in flight are answered, then the limiter writes what is left to write.
  server.close(() => limiter.close({ store: true }));
  // Clients keep their connections: the next response on one ends it, and idle ones are closed.
  server.prependListener('request', (_req, res) => res.setHeader('Connection', 'close'));
  setInterval(() => server.closeIdleConnections(), 100).unref();
});
