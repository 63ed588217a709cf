import { clientNetwork, createLimiter, everyone } from '@sluice/core';
import { concurrency } from '@sluice/core/concurrency';
import { rateLimit } from '@sluice/express';
import express from 'express';

export const limiter = createLimiter({
  limits: {
    Requests: { key: clientNetwork(), burst: 50, count: 20, period: '1s' },
    // A client has at most 10 requests in progress.
    InFlight: concurrency({ key: clientNetwork(), concurrency: 10 }),
    // This process makes at most 4 reports at the same time.
    Reports: concurrency({ key: everyone(), concurrency: 4, scope: 'process' }),
  },
});

export const app = express();
app.use(rateLimit({ limiter, limits: ['Requests', 'InFlight'] }));

// A stream has its slot until it is closed, by either side.
app.get('/events', (_req, res) => {
  res.type('text/event-stream').flushHeaders();
});

/** Makes a report, unless four are being made. Without HTTP, the slot is released by hand. */
export async function makeReport(make: () => Promise<void>): Promise<boolean> {
  const held = await limiter.spend([{ limit: 'Reports', id: 'everyone' }], { hold: true });
  try {
    if (held.allowed) await make();
    return held.allowed;
  } finally {
    await held.release();
  }
}
