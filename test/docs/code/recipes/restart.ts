import { clientNetwork, createLimiter, memoryStore } from '@sluice/core';
import { dump, restore } from '@sluice/core/dump';
import { rateLimit } from '@sluice/express';
import express from 'express';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';

const { BUCKETS = 'buckets.bin', PORT = '3000' } = process.env;
const store = memoryStore();
if (existsSync(BUCKETS)) {
  try {
    restore(store, readFileSync(BUCKETS));
  } catch (error) {
    console.warn('The saved buckets were not restored:', error);
  }
  // After a crash the next process must not find it again.
  rmSync(BUCKETS);
}
const limiter = createLimiter({
  limits: { RequestsPerClient: { key: clientNetwork(), count: 100, period: '1h' } },
  trustedProxies: [],
  store,
});

const app = express();
app.use(rateLimit({ limiter }));
app.get('/', (_req, res) => res.send('Hello\n'));
const server = app.listen(Number(PORT));

process.once('SIGTERM', () => {
  server.close(async () => {
    await limiter.close();
    writeFileSync(BUCKETS, dump(store), { mode: 0o600 });
  });
  server.prependListener('request', (_req, res) => res.setHeader('Connection', 'close'));
  setInterval(() => server.closeIdleConnections(), 100).unref();
});
