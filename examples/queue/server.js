import { createLimiter, everyone } from '@sluice/core';
import { rateLimit } from '@sluice/express';
import express from 'express';

const limiter = createLimiter({
  limits: {
    // One queue for all exports: the backend gets one every 100 ms, and no request waits for more than two seconds.
    Exports: { key: everyone(), burst: 1, count: 10, period: '1s', maxWait: '2s' },
  },
});

const app = express();

app.get('/export', rateLimit({ limiter, maxQueued: 100 }), (req, res) => {
  res.json({ startedMs: performance.timeOrigin + performance.now(), delayMs: req.rateLimit?.delayMs });
});

const server = app.listen(Number(process.env.PORT ?? 3000), '127.0.0.1', () => {
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  const url = `http://127.0.0.1:${port}`;
  console.log(`Listening on ${url}

Thirty exports at once: one starts every 100 ms, and about nine are denied:
  seq 30 | xargs -P 30 -I{} curl -s -w "%{http_code}\\n" "${url}/export?{}"
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
    // Answers the requests that wait with a 503, so that the server can close. Their connections are idle then.
    void limiter.close();
    const closing = setInterval(() => server.closeIdleConnections(), 100);
    server.close(() => clearInterval(closing));
  });
}
