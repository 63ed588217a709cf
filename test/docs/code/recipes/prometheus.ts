import { rateLimit } from '@sluice/express';
import express from 'express';
import { Counter, register } from 'prom-client';

const help = 'Decisions of rate limits';
const decisions = new Counter({ name: 'rate_limit_decisions_total', help, labelNames: ['limit', 'outcome'] });

export const app = express();
app.get('/metrics', async (_req, res) => res.type(register.contentType).send(await register.metrics()));
app.use(
  rateLimit({
    count: 100,
    period: '1m',
    onDecision: ({ limit, outcome }) => decisions.inc({ limit: limit ?? 'none', outcome }),
  }),
);
