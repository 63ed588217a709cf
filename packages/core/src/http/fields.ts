import { oneOf } from '../checks/options.ts';
import type { Decided } from '../decision/decided.ts';
import type { Decision } from '../decision/decision.ts';
import type { Dialect, FieldTimes, ResponseFields } from './dialects/dialect.ts';
import { draft11 } from './dialects/draft-11.ts';
import { draft6, draft7, legacy } from './dialects/single-limit.ts';
import { visiblePart } from './visible.ts';

/**
 * The format of the rate limit fields.
 *
 * - `draft-11`: `RateLimit` and `RateLimit-Policy` of draft-ietf-httpapi-ratelimit-headers-11 (23 May 2026).
 * - `draft-7`: `RateLimit: limit=, remaining=, reset=` and `RateLimit-Policy: n;w=s` of its seventh version.
 * - `draft-6`: `RateLimit-Limit`, `-Remaining`, `-Reset` and `RateLimit-Policy` of its sixth version.
 * - `legacy`: `X-RateLimit-Limit`, `-Remaining` and `-Reset`, the last one in seconds since 1970.
 */
export type FieldsDialect = 'draft-11' | 'draft-7' | 'draft-6' | 'legacy';

export const DIALECTS: Readonly<Record<FieldsDialect, Dialect>> = {
  'draft-11': draft11,
  'draft-7': draft7,
  'draft-6': draft6,
  legacy,
};

/**
 * Validates the option `fields`.
 *
 * @returns `null` for no rate limit fields.
 * @throws {SluiceError} `ERR_OPTION`.
 */
export function checkedFields(fields: unknown = 'draft-11'): Dialect | null {
  if (fields === false) return null;
  const words = Object.keys(DIALECTS) as FieldsDialect[];
  const remedy = "For example fields: 'draft-11', which is the default, or fields: false for no RateLimit fields.";
  return DIALECTS[oneOf('fields', fields, words, remedy)];
}

const RETRY_AFTER = 'Retry-After';

/** The settings of a middleware for response fields. */
export interface FieldSettings {
  /** `null` for no rate limit fields. Retry-After is set in any case. */
  readonly dialect: Dialect | null;
  /** The largest random extension of Retry-After, as a fraction of the wait, from 0 to 0.03. */
  readonly retryJitter: number;
}

/**
 * Returns the value of Retry-After for a denial in whole seconds, rounded up, at least 1 (RFC 9110 section 10.2.3):
 * clients that read 0 would come back at once. Returns 0, for no such field, when no wait helps.
 * Jitter only lengthens the wait, so that clients that were denied together come back at different times and no client
 * too early.
 */
export function retryAfterSeconds({ retryAfterMs }: Decision, jitter: number): number {
  return retryAfterMs === Infinity ? 0 : Math.max(1, Math.ceil((retryAfterMs * (1 + Math.random() * jitter)) / 1000));
}

/** What to write for a decision. */
export interface WrittenFields extends FieldTimes {
  readonly dialect: Dialect | null;
}

/**
 * Writes the fields of one decision: Retry-After if waiting helps, and figures of the visible limits if the store
 * counted.
 */
export function writeFields(decision: Decision, fields: ResponseFields, written: WrittenFields): void {
  const { dialect, retryAfter } = written;
  // A longer wait that is already set is kept: a client that came back after the shorter one would be denied.
  if (retryAfter > 0 && !(Number(fields.getField('retry-after')) > retryAfter)) {
    fields.setField(RETRY_AFTER, String(retryAfter));
  }
  // All decisions of limiters are of this class.
  const visible = dialect === null ? null : visiblePart(decision as Decided, retryAfter);
  if (visible !== null) dialect!.write(visible, fields, written);
  if (visible === null && retryAfter === 0) return;
  if (fields.getField('access-control-allow-origin') !== undefined)
    exposeToScripts(visible === null ? [] : dialect!.names, fields);
}

/** Lets scripts of other origins read our fields (CORS), if the response allows such scripts. */
function exposeToScripts(names: readonly string[], fields: ResponseFields): void {
  const exposed = String(fields.getField('access-control-expose-headers') ?? '').trim();
  const present = exposed.split(',').map((name) => name.trim().toLowerCase());
  if (present.includes('*')) return;
  const missing = [...names, RETRY_AFTER].filter((name) => !present.includes(name.toLowerCase()));
  if (missing.length === 0) return;
  fields.setField('Access-Control-Expose-Headers', (exposed === '' ? missing : [exposed, ...missing]).join(', '));
}
