import type { Decided } from '../decision/decided.ts';
import type { Decision } from '../decision/decision.ts';
import type { Result } from '../decision/result.ts';
import { fitting } from './dialects/fitting.ts';
import { shownNameOf } from './shown-names.ts';
import { waitText } from '../time/duration-text.ts';

/** A response, without the rate limit fields and Retry-After. */
export interface Answer {
  readonly status: number;
  readonly fields: Readonly<Record<string, string>>;
  /** JSON. Not sent in the response to a HEAD request. */
  readonly body: string;
}

/** The response to a request that is not let through. */
export interface Denial extends Answer {
  readonly decision: Decision;
  /**
   * 429; 403 when an id is blocked; 503 when the service has no room, and when the store can't answer and a limit has the
   * policy `closed`.
   */
  readonly status: 403 | 429 | 503;
  /** Header fields, without the rate limit fields and Retry-After. */
  readonly fields: Readonly<Record<string, string>>;
  /** Problem details as JSON (RFC 9457). Not sent in the response to a HEAD request. */
  readonly body: string;
  /** After how many whole seconds the client may try again; undefined when no wait helps. */
  readonly retryAfterSeconds: number | undefined;
}

const FIELDS = { 'Content-Type': 'application/problem+json', 'Cache-Control': 'no-store' } as const;
const TYPES = 'https://iana.org/assignments/http-problem-types#';

const USELESS = 'Sending it again will not help.';

// A block is not a quota, and no problem type is registered for it. about:blank means that the problem is what the
// status says (RFC 9457 section 4.2.1).
const BLOCKED_BODY = JSON.stringify({
  type: 'about:blank',
  title: 'Forbidden',
  status: 403,
  detail: `The request is blocked. ${USELESS}`,
});

/**
 * Creates the response to a denied or undecided request, with the problem types of
 * draft-ietf-httpapi-ratelimit-headers-11. It names the limits that are not hidden, and never an id.
 *
 * @param retryAfterSeconds - The value of Retry-After; 0 for none.
 */
export function denialOf(decision: Decision, retryAfterSeconds: number): Denial {
  // No wait helps a blocked id.
  if (retryAfterSeconds === 0 && decision.blocked) {
    return { decision, status: 403, fields: FIELDS, body: BLOCKED_BODY, retryAfterSeconds: undefined };
  }
  const again = retryAfterSeconds === 0 ? USELESS : `Try again in ${waitText(retryAfterSeconds)}.`;
  if ((decision as Decided).passed === undefined) {
    const detail = `Rate limiting is temporarily unavailable. ${again}`;
    return { decision, status: 503, fields: FIELDS, body: reducedCapacityBody(detail), retryAfterSeconds };
  }
  if (decision.overloaded) {
    const body = reducedCapacityBody(`The service is at capacity. ${again}`);
    return { decision, status: 503, fields: FIELDS, body, retryAfterSeconds };
  }
  const body = exceededBody(decision, again);
  return { decision, status: 429, fields: FIELDS, body, retryAfterSeconds: retryAfterSeconds || undefined };
}

// Built by hand, because a client that floods the server gets only these responses. The name of a limit contains no
// character that JSON escapes.
function exceededBody(decision: Decision, again: string): string {
  const exceeded = exceededIn(decision);
  const problem = `{"type":"${TYPES}quota-exceeded","title":"Too many requests","status":429,`;
  if (exceeded.length === 0) return `${problem}"detail":"${unnamed(decision)} ${again}"}`;
  const names = namedOf(decision, exceeded);
  let pending = 0;
  for (const each of exceeded) pending += each.pending ?? 0;
  const shown = exceeded.length === 1 ? ` \\"${names[0]}\\"` : severalOf(names, exceeded.length - names.length);
  return `${problem}"detail":"${nounOf(exceeded)}${shown} exceeded. ${again}${pending === 0 ? '' : sooner(pending)}","violated-policies":["${names.join('","')}"]}`;
}

/** What happened where no limit is named. */
function unnamed({ reason }: Decision): string {
  return reason === 'deadline' ? 'The deadline of the request has passed.' : 'Rate limit exceeded.';
}

/** Returns the names of the limits that deny, without hidden ones: as many as a body has in `violated-policies`. */
export function violatedPolicies(decision: Decision): readonly string[] {
  return namedOf(decision, exceededIn(decision));
}

function exceededIn({ results }: Decision): readonly Result[] {
  const exceeded: Result[] = [];
  for (const result of results) if (!result.allowed && !result.hidden) exceeded.push(result);
  return exceeded;
}

/** What may come back before the wait is over. */
function sooner(tokens: number): string {
  return ` Up to ${tokens} ${tokens === 1 ? 'token' : 'tokens'} may come back sooner.`;
}

/** The most characters of the names in a body. */
const MOST_NAMES = 2000;

/** The names of the limits that are exceeded. Where they are too many, the strictest is among those that are left. */
function namedOf(decision: Decision, exceeded: readonly Result[]): readonly string[] {
  if (exceeded.length === 1) return [shownNameOf(decision, exceeded[0]!.limit)];
  const named = fitting(exceeded, {
    most: MOST_NAMES,
    rankOf: ({ limit }) => (limit === decision.limit ? 0 : 1),
    textsOf: ({ limit }) => [`"${limit}"`],
  });
  return named.map(({ limit }) => shownNameOf(decision, limit));
}

/** Several names behind a noun. */
function severalOf(names: readonly string[], others: number): string {
  const quoted = names.map((name) => `\\"${name}\\"`);
  if (others > 0) quoted.push(`${others} more`);
  return `s ${quoted.slice(0, -1).join(', ')} and ${quoted.at(-1)}`;
}

function nounOf(limits: readonly Result[]): string {
  let counts = 0;
  for (const { kind } of limits) if (kind === 'concurrency') counts++;
  if (counts === 0) return 'Rate limit';
  return counts === limits.length ? 'Concurrency limit' : 'Limit';
}

/** No policies are named: those of the service are not those of the client. */
export function reducedCapacityBody(detail: string): string {
  return `{"type":"${TYPES}temporary-reduced-capacity","title":"Temporarily unavailable","status":503,"detail":"${detail}"}`;
}
