import { createLimiter, everyone } from '@sluice/core';
import { createScheduler } from '@sluice/core/scheduler';

const limiter = createLimiter({ limits: { Calls: { key: everyone(), burst: 1, count: 9, period: '1s' } } });
const scheduler = createScheduler(limiter);
const calls = [{ limit: 'Calls', id: 'everyone' }] as const;

/** Calls the API when it is this call's turn. */
export function callApi(url: string, init: RequestInit = {}, priority = 0): Promise<Response> {
  const { signal } = init;
  return scheduler.run(calls, () => answerOf(url, init), { priority, signal: signal ?? undefined, within: '5s' });
}

async function answerOf(url: string, init: RequestInit): Promise<Response> {
  const response = await fetch(url, init);
  if (response.status === 429) {
    // Somebody else has called with the same account. All calls wait for as long as the API demands, up to a minute.
    const seconds = Number(response.headers.get('Retry-After')) || 1;
    await limiter.limit('Calls').restrict({ forMs: Math.ceil(Math.min(seconds, 60) * 1000) });
  }
  return response;
}
