import type { Decision } from '../decision/decision.ts';

/** The response to a request that is not let through. */
export interface Denial {
  readonly decision: Decision;
  /** 429; 403 when an id is blocked; 503 when the store can't answer and a limit has the policy `closed`. */
  readonly status: 403 | 429 | 503;
  /** Header fields, without the rate limit fields and Retry-After. */
  readonly fields: Readonly<Record<string, string>>;
  /** Problem details as JSON (RFC 9457). Not sent in the response to a HEAD request. */
  readonly body: string;
}

const FIELDS = { 'Content-Type': 'application/problem+json', 'Cache-Control': 'no-store' } as const;
const TYPES = 'https://iana.org/assignments/http-problem-types#';

// A block is not a quota, and no problem type is registered for it. about:blank means that the problem is what the
// status says (RFC 9457 section 4.2.1).
const BLOCKED_BODY = JSON.stringify({
  type: 'about:blank',
  title: 'Forbidden',
  status: 403,
  detail: 'The request is blocked. Sending it again will not help.',
});

/**
 * Creates the response to a denied or undecided request, with the problem types of
 * draft-ietf-httpapi-ratelimit-headers-11. It names the limits that are not hidden, and never an id.
 *
 * @param retryAfter - The value of Retry-After in seconds.
 */
export function denialOf(decision: Decision, retryAfter: number): Denial {
  if (decision.blocked) return { decision, status: 403, fields: FIELDS, body: BLOCKED_BODY };
  const again = `Try again in ${retryAfter === 1 ? '1 second' : `${retryAfter} seconds`}.`;
  return decision.outcome === 'unavailable'
    ? { decision, status: 503, fields: FIELDS, body: unavailableBody(again) }
    : { decision, status: 429, fields: FIELDS, body: deniedBody(decision, again) };
}

// Built by hand, because a client that floods the server gets only this response. The name of a limit contains no
// character that JSON escapes.
function deniedBody({ results }: Decision, again: string): string {
  const violated = results.filter(({ allowed, hidden }) => !allowed && !hidden).map(({ limit }) => limit);
  const problem = `{"type":"${TYPES}quota-exceeded","title":"Too many requests","status":429,`;
  if (violated.length === 0) return `${problem}"detail":"Rate limit exceeded. ${again}"}`;
  return `${problem}"detail":"${exceeded(violated)}. ${again}","violated-policies":["${violated.join('","')}"]}`;
}

function exceeded(limits: readonly string[]): string {
  const quoted = limits.map((limit) => `\\"${limit}\\"`);
  if (quoted.length === 1) return `Rate limit ${quoted[0]} exceeded`;
  return `Rate limits ${quoted.slice(0, -1).join(', ')} and ${quoted.at(-1)} exceeded`;
}

function unavailableBody(again: string): string {
  return JSON.stringify({
    type: `${TYPES}temporary-reduced-capacity`,
    title: 'Temporarily unavailable',
    status: 503,
    detail: `Rate limiting is temporarily unavailable. ${again}`,
  });
}
