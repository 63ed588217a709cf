import { clientNetwork, createLimiter, type Decision, type Time } from '@sluice/core';
import { rateLimit } from '@sluice/express';
import type { RequestHandler } from 'express';

/** `app.use(banAfterDenials())` */
export function banAfterDenials(time?: Time): RequestHandler {
  const key = clientNetwork();
  const limiter = createLimiter({
    limits: {
      Requests: { key, count: 100, period: '1m' },
      // Ten denials at once; one is forgiven each minute.
      Denials: { key, count: 10, period: '10m', hidden: true },
      // One token, which takes an hour to come back: a client without it is banned.
      Ban: { key, count: 1, period: '1h', hidden: true },
    },
    onDecision: countDenial,
    time,
  });
  return rateLimit({ limiter, limits: ['Requests', { limit: 'Ban', mode: 'check-only' }] });

  async function countDenial({ allowed, limit, id }: Decision): Promise<void> {
    // Denials of the ban do not count: each of them would make it longer, and it would never end.
    if (allowed || limit !== 'Requests' || id === null) return;
    const [denials] = await limiter.charge([{ limit: 'Denials', id }]);
    if (denials?.remaining === 0) await limiter.charge([{ limit: 'Ban', id }]);
  }
}
