import { STATUS_CODES } from 'node:http';

/**
 * GCRA as one would write it down for one service: ten lines on a Map, without memory's bounds, checks or options. The
 * fields and the refusal are those of Sluice, so that the same work is done for clients.
 *
 * @typedef {{ policy: string, state: string, retryAfter: number }} Told
 */

export const PROBLEM = {
  'Content-Type': 'application/problem+json',
  'Cache-Control': 'no-store',
};

/**
 * @param {import('./numbers.mjs').Numbers} numbers
 * @returns {(id: string) => Told} `retryAfter` is 0 when allowed
 */
export function tenLines({ count, periodMs }) {
  const tats = new Map();
  const intervalMs = periodMs / count;
  const policy = `"default";q=${count};w=${Math.ceil(periodMs / 1000)}`;
  return (id) => {
    const nowMs = performance.now();
    const tat = Math.max(tats.get(id) ?? 0, nowMs);
    const allowed = tat + intervalMs - nowMs <= periodMs;
    if (allowed) tats.set(id, tat + intervalMs);
    const left = periodMs - (allowed ? tat + intervalMs : tat) + nowMs;
    const remaining = Math.floor(left / intervalMs);
    const next = Math.ceil(((remaining + 1) * intervalMs - left) / 1000);
    return { policy, state: `"default";r=${remaining};t=${next}`, retryAfter: allowed ? 0 : next };
  };
}

/** @param {number} retryAfter */
export function problem(retryAfter) {
  return JSON.stringify({
    type: 'https://iana.org/assignments/http-problem-types#quota-exceeded',
    title: STATUS_CODES[429],
    status: 429,
    detail: `Rate limit "default" exceeded. Try again in ${retryAfter} seconds.`,
    'violated-policies': ['default'],
  });
}
