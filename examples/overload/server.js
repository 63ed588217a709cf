import { rateLimit } from '@sluice/express';
import express from 'express';
import { hasUnknownKey, isExempt, limiter, shareOf, switches, worker } from './limits.js';

/** CPU time of a request. */
const workMs = Number(process.env.WORK_MS ?? 10);

const app = express();

// Before everything else: a request that is shed costs neither the parsing of its body nor a look at its session.
app.use(
  rateLimit({
    limiter,
    limits: [{ limit: 'Worker', share: shareOf }, 'InFlight', { limit: 'Fleet', share: shareOf }],
    skip: isExempt,
    // `SHADOW=1` decides and reports, but denies nothing.
    shadow: process.env.SHADOW === '1',
  }),
);
// After the limits, so that a client that tries many keys is limited by its address.
app.use((req, res, next) => {
  if (hasUnknownKey(req)) res.status(401).json({ error: 'unknown key' });
  else next();
});
app.use(express.json());

app.get('/health', (_req, res) => {
  res.json({ ok: true, level: worker.level });
});

// A real service protects such a route, or reads its flags from elsewhere.
app.post('/switches', (req, res) => {
  if (req.query.shedding !== undefined) switches.isShedding = req.query.shedding !== 'off';
  if (req.query.pretended !== undefined) switches.pretended = Number(req.query.pretended);
  res.json(switches);
});

app.post('/checkout', (_req, res) => {
  work();
  res.json({ paid: true });
});
app.get('/items', (_req, res) => {
  work();
  res.json({ items: [] });
});
app.get('/report', (_req, res) => {
  work();
  res.json({ rows: [] });
});

// Waits for a backend and uses hardly any CPU time: no load limit notices it, but InFlight does.
app.get('/slow', (_req, res) => {
  setTimeout(() => res.json({ waited: true }), 500);
});

/** Uses CPU time, as rendering a page or a bad regular expression does. */
function work() {
  const { user, system } = process.cpuUsage();
  for (;;) {
    for (let i = 0; i < 1000; i++) Math.sqrt(i);
    const used = process.cpuUsage();
    if (used.user + used.system - user - system >= workMs * 1000) return;
  }
}

const server = app.listen(Number(process.env.PORT ?? 3000), '127.0.0.1', () => {
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  const url = `http://127.0.0.1:${port}`;
  console.log(`Listening on ${url}

Twelve requests of one client at once: two are denied by InFlight:
  curl -i -Z -H "X-Api-Key: client-1" "${url}/slow?[1-12]"
The level of the load, which is exempt from all limits:
  curl -i ${url}/health
The kill switch:
  curl -i -X POST "${url}/switches?shedding=off"
Up to three times as many requests as a server can answer, with and without the load limit:
  node load.mjs
`);
});

server.on('error', (/** @type {NodeJS.ErrnoException} */ error) => {
  console.error(
    error.code === 'EADDRINUSE' ? `${error.message}. Choose another port: PORT=3001 node server.js` : error.message,
  );
  process.exitCode = 1;
});

for (const signal of ['SIGINT', 'SIGTERM']) {
  process.once(signal, () => {
    void limiter.close();
    const closing = setInterval(() => server.closeIdleConnections(), 100);
    server.close(() => clearInterval(closing));
  });
}
