import type { Decision } from '../decision/decision.ts';
import type { Dialect, ResponseFields } from './dialects/dialect.ts';
import { draft11 } from './dialects/draft-11.ts';
import { draft6 } from './dialects/draft-6.ts';
import { draft7 } from './dialects/draft-7.ts';
import { legacy } from './dialects/legacy.ts';
import { visiblePart } from './visible-part.ts';

/**
 * How clients are told their limits.
 *
 * - `draft-11`: `RateLimit` and `RateLimit-Policy` of draft-ietf-httpapi-ratelimit-headers-11 (23 May 2026).
 * - `draft-7`: `RateLimit: limit=, remaining=, reset=` and `RateLimit-Policy: n;w=s` of its seventh version.
 * - `draft-6`: `RateLimit-Limit`, `-Remaining`, `-Reset` and `RateLimit-Policy` of its sixth version.
 * - `legacy`: `X-RateLimit-Limit`, `-Remaining` and `-Reset`, the last as seconds since 1970.
 */
export type FieldsDialect = 'draft-11' | 'draft-7' | 'draft-6' | 'legacy';

export const DIALECTS: Readonly<Record<FieldsDialect, Dialect>> = {
  'draft-11': draft11,
  'draft-7': draft7,
  'draft-6': draft6,
  legacy,
};

const RETRY_AFTER = 'Retry-After';

/** How a middleware tells clients their limits. */
export interface FieldSettings {
  /** `null`: not at all. Retry-After is set all the same. */
  readonly dialect: Dialect | null;
  /** Upward jitter of Retry-After, a fraction of the wait from 0 to 0.03. */
  readonly retryJitter: number;
}

/**
 * The seconds of Retry-After on a refusal; 0, which means no such field, when allowed or blocked. Whole seconds, rounded
 * up, at least 1: clients that read 0 come back at once (RFC 9110 section 10.2.3). Jitter only lengthens it, so that
 * clients that were denied together come back apart and none comes too early.
 */
export function retryAfterSeconds({ allowed, blocked, retryAfterMs }: Decision, jitter: number): number {
  return allowed || blocked ? 0 : Math.max(1, Math.ceil((retryAfterMs * (1 + Math.random() * jitter)) / 1000));
}

/** What is written of a decision. */
export interface WrittenFields {
  readonly dialect: Dialect | null;
  /** Seconds; 0 when allowed. */
  readonly retryAfter: number;
}

/**
 * Writes the fields of one decision: Retry-After on every refusal that a wait helps against, figures only of visible
 * limits that the store counted.
 */
export function writeFields(decision: Decision, fields: ResponseFields, { dialect, retryAfter }: WrittenFields): void {
  // A longer wait that is told already stays: a client that came back after the shorter one would be denied.
  if (retryAfter > 0 && !(Number(fields.getField(RETRY_AFTER)) > retryAfter)) {
    fields.setField(RETRY_AFTER, String(retryAfter));
  }
  const visible = dialect === null ? null : visiblePart(decision);
  if (visible !== null) dialect!.write(visible, fields, retryAfter);
  if (visible !== null || retryAfter > 0) exposeToScripts(visible === null ? [] : dialect!.names, fields);
}

/** Lets scripts of other origins read our fields, where the response is for such scripts. */
function exposeToScripts(names: readonly string[], fields: ResponseFields): void {
  if (fields.getField('Access-Control-Allow-Origin') === undefined) return;
  const exposed = String(fields.getField('Access-Control-Expose-Headers') ?? '').trim();
  const present = exposed.split(',').map((name) => name.trim().toLowerCase());
  if (present.includes('*')) return;
  const missing = [...names, RETRY_AFTER].filter((name) => !present.includes(name.toLowerCase()));
  if (missing.length === 0) return;
  fields.setField('Access-Control-Expose-Headers', (exposed === '' ? missing : [exposed, ...missing]).join(', '));
}
