import { clientNetwork, createLimiter } from '@sluice/core';
import { rateLimit } from '@sluice/express';
import express from 'express';

export const limiter = createLimiter({
  limits: {
    RequestsPerClient: { key: clientNetwork(), count: 100, period: '1m' },
    // One token, which takes an hour to come back: a client without it is banned.
    Ban: { key: clientNetwork(), burst: 1, count: 1, period: '1h', hidden: true },
  },
});

export const app = express();
app.use(rateLimit({ limiter, limits: ['RequestsPerClient', { limit: 'Ban', mode: 'check-only' }] }));

// Only scanners ask for this page: ban the client of the request for an hour.
app.get('/wp-login.php', async (req, res) => {
  await req.rateLimit?.charge(1, 'Ban');
  res.sendStatus(404);
});
