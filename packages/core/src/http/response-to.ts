import { oneOf } from '../checks/options.ts';
import type { Decision } from '../decision/decision.ts';
import type { Time } from '../time/time.ts';
import { denialOf, type Denial } from './denial.ts';
import { DIALECTS, retryAfterSeconds, writeFields, type FieldsDialect } from './fields.ts';

/** How the response to a decision is written. */
export interface ResponseOptions {
  /** The format of the rate limit fields, or false for none. Retry-After is written in any case. */
  readonly fields: FieldsDialect | false;
  /** By which a reset is given as a time of day. */
  readonly time: Time;
}

/** What a client is told about a decision. */
export interface DecisionResponse {
  /** The header fields, by name. */
  readonly fields: ReadonlyMap<string, string>;
  /** The response to a request that is not let through; null when it is allowed. */
  readonly denial: Denial | null;
}

/**
 * Returns what a middleware would send for a decision: for a process that decides requests which another program answers.
 *
 * @throws {SluiceError} `ERR_OPTION` when `fields` is not a dialect.
 */
export function responseTo(decision: Decision, { fields, time }: ResponseOptions): DecisionResponse {
  const dialect = fields === false ? null : DIALECTS[oneOf('fields', fields, NAMES)];
  const written = new Map<string, string>();
  const retryAfter = decision.allowed ? 0 : retryAfterSeconds(decision, 0);
  const target = {
    decision: undefined,
    // Nothing is set before.
    getField: (): undefined => undefined,
    setField: (name: string, value: string): void => void written.set(name, value),
  };
  writeFields(decision, target, { dialect, retryAfter, queuedMs: 0, time });
  return { fields: written, denial: decision.allowed ? null : denialOf(decision, retryAfter) };
}

const NAMES = Object.keys(DIALECTS) as readonly FieldsDialect[];
