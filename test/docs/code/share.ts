import { createLimiter, everyone } from '@sluice/core';
import { rateLimit } from '@sluice/express';
import express from 'express';

const limiter = createLimiter({
  // What the payment provider accepts from us: one bucket for all requests.
  limits: { Payments: { key: everyone(), count: 100, period: '1h' } },
});

export const app = express();

app.post('/checkout', rateLimit({ limiter, limits: ['Payments'] }), (_req, res) => res.send('paid'));

app.post('/batch', rateLimit({ limiter, limits: [{ limit: 'Payments', share: 0.8 }] }), (_req, res) => {
  res.send('one invoice of many');
});
