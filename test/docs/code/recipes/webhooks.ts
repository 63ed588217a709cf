import { accountId, createLimiter } from '@sluice/core';

const BURST = 10;

const limiter = createLimiter({
  limits: { DeliveriesPerHost: { key: accountId(), burst: BURST, count: 5, period: '1s' } },
});

/**
 * Sends a webhook, for the worker of a job queue.
 *
 * @returns null when it was delivered, otherwise the milliseconds to wait: put the job back into the queue for that long.
 */
export async function deliver(url: string, body: string): Promise<number | null> {
  const receiver = { limit: 'DeliveriesPerHost', id: new URL(url).host } as const;
  const { allowed, retryAfterMs } = await limiter.spend([receiver]);
  if (!allowed) return retryAfterMs;
  const { ok } = await fetch(url, { method: 'POST', body, headers: { 'Content-Type': 'application/json' } });
  if (ok) return null;
  // The receiver is overloaded or broken: empty its bucket, so that every other job for it waits too.
  const [after] = await limiter.charge([{ ...receiver, cost: BURST }]);
  return after?.resetAfterMs ?? 0;
}
