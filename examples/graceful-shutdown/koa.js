import { rateLimit } from '@sluice/koa';
import Koa from 'koa';
import { createServer } from 'node:http';
import { answer, billed } from './answer.js';
import { IN_ADVANCE, limiter } from './limits.js';
import { listen } from './listen.js';

const app = new Koa();

app.use(rateLimit({ limiter, limits: [{ limit: 'TokensPerClient', cost: IN_ADVANCE, settle: billed }] }));
app.use((ctx) => {
  ctx.type = 'text/plain';
  ctx.body = answer();
});

const server = createServer(app.callback());
await listen(server);

process.once('SIGTERM', () => {
  // No new connections. Requests in flight are answered, then the limiter writes what is left to write.
  server.close(() => limiter.close({ store: true }));
  // Clients keep their connections: the next response on one ends it, and idle ones are closed.
  server.prependListener('request', (_req, res) => res.setHeader('Connection', 'close'));
  setInterval(() => server.closeIdleConnections(), 100).unref();
});
