import type { Time } from '@sluice/core';
import { providersMs, retryAfterIn } from './fields/retry-after.ts';

/** Methods that have the same effect when they are sent again (RFC 9110, 9.2.2). */
export const IDEMPOTENT: readonly string[] = ['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE', 'TRACE'];

const FIRST_MS = 500;
const MOST_MS = 8000;

/** Whether an answer says that the request was not served, and may be later. */
export function isRetried(status: number): boolean {
  return status === 429 || status === 503;
}

/**
 * Returns how long to wait before a request is sent again, in milliseconds: as long as its answer says, and at least half a
 * second before the first time, then twice as long each time up to eight seconds, and each time a random part of up to a half
 * less, so that many do not come back together.
 *
 * @param tries - How often it was sent: 1 or more.
 */
export function waitBefore(tries: number, { headers }: Response, time: Time): number {
  const leastMs = Math.min(MOST_MS, FIRST_MS * 2 ** (tries - 1)) * (1 - Math.random() / 2);
  return Math.max(leastMs, retryAfterIn(headers, providersMs(headers, time.wallNow())) ?? 0);
}

/** Waits, and rejects with the reason of the signal. */
export function pause(delayMs: number, time: Time, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted === true) return reject(signal.reason as Error);
    const abort = (): void => {
      alarm.cancel();
      reject(signal!.reason as Error);
    };
    const alarm = time.alarm(delayMs, () => {
      signal?.removeEventListener('abort', abort);
      resolve();
    });
    signal?.addEventListener('abort', abort, { once: true });
  });
}
