import { createLimiter, everyone } from '@sluice/core';

const PER_SECOND = 9;
const LONGEST_WAIT_SECONDS = 60;

const limiter = createLimiter({
  limits: {
    Calls: {
      key: everyone(),
      burst: 1,
      count: PER_SECOND,
      period: '1s',
      maxWait: '5s',
      maxDebt: PER_SECOND * LONGEST_WAIT_SECONDS,
    },
  },
});
const calls = { limit: 'Calls', id: 'everyone' } as const;

/** Calls the API when it is this call's turn. */
export async function callApi(url: string, init: RequestInit = {}): Promise<Response> {
  const { allowed, retryAfterMs } = await limiter.spend([calls], { wait: true, signal: init.signal ?? undefined });
  if (!allowed) throw new Error(`Too many calls are waiting. Try again in ${Math.ceil(retryAfterMs / 1000)} s.`);
  const response = await fetch(url, init);
  if (response.status === 429) {
    // Somebody else has called with the same account. All calls wait for as long as the API demands.
    const seconds = Number(response.headers.get('Retry-After')) || 1;
    await limiter.charge([{ ...calls, cost: Math.ceil(PER_SECOND * Math.min(seconds, LONGEST_WAIT_SECONDS)) }]);
  }
  return response;
}
