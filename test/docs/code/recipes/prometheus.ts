import { clientNetwork, createLimiter } from '@sluice/core';
import { metricsText } from '@sluice/core/metrics';
import { rateLimit } from '@sluice/express';
import express from 'express';

const limiter = createLimiter({ limits: { Requests: { key: clientNetwork(), count: 100, period: '1m' } } });
metricsText(limiter); // from here on, all is counted

export const app = express();
app.get('/metrics', (_req, res) => res.type('text/plain; version=0.0.4').send(metricsText(limiter)));
app.use(rateLimit({ limiter }));
