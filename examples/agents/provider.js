import { once } from 'node:events';
import { createServer } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';

/** What the provider allows to each API key: a bucket of so many calls, which fills at this rate. */
export const ALLOWED = { burst: 40, perSecond: 20 };

/** How long it works on a call. */
const WORK_MS = 50;

/**
 * Starts a strict provider: it denies each call above its limit by 429, and says what is left.
 *
 * @returns {Promise<{ server: import('node:http').Server, seen: { answered: number, denied: number } }>}
 */
export async function startProvider() {
  const seen = { answered: 0, denied: 0 };
  /** @type {Map<string, { left: number, atMs: number }>} */
  const buckets = new Map();

  const server = createServer(async (request, response) => {
    const { left, isAllowed } = take(buckets, request.headers.authorization ?? '');
    const seconds = Math.ceil((1 - left) / ALLOWED.perSecond);
    response.setHeader('X-RateLimit-Limit', ALLOWED.burst);
    response.setHeader('X-RateLimit-Remaining', Math.floor(left));
    response.setHeader('X-RateLimit-Reset', Math.ceil((ALLOWED.burst - left) / ALLOWED.perSecond));
    if (!isAllowed) {
      seen.denied += 1;
      response.writeHead(429, { 'Retry-After': seconds }).end();
      return;
    }
    await delay(WORK_MS);
    seen.answered += 1;
    response.end('done');
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return { server, seen };
}

/** Takes a call from the bucket of a key, if there is one. @param {Map<string, { left: number, atMs: number }>} buckets */
function take(buckets, /** @type {string} */ key) {
  const nowMs = performance.now();
  const { left, atMs } = buckets.get(key) ?? { left: ALLOWED.burst, atMs: nowMs };
  const now = Math.min(ALLOWED.burst, left + ((nowMs - atMs) / 1000) * ALLOWED.perSecond);
  const isAllowed = now >= 1;
  buckets.set(key, { left: isAllowed ? now - 1 : now, atMs: nowMs });
  return { left: isAllowed ? now - 1 : now, isAllowed };
}
