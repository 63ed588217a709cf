import type { Decided } from '../../decision/decided.ts';
import type { Result } from '../../decision/result.ts';
import type { Time } from '../../time/time.ts';

/** The fields of a response, and the decision on its request so far. */
export interface ResponseFields {
  readonly decision: { readonly allowed: boolean; readonly results: readonly Result[] } | undefined;
  /**
   * Returns a field that is set on the response.
   *
   * @param name - In lower case.
   */
  getField(name: string): number | string | readonly string[] | undefined;
  /** Sets a field, replacing its value. Does nothing when the head was already sent. */
  setField(name: string, value: string): void;
}

/** What a dialect writes beside the figures of the decision. */
export interface FieldTimes {
  /** The value of Retry-After in seconds; 0 when allowed or blocked. */
  readonly retryAfter: number;
  /** Milliseconds for which the request was queued after the decision. */
  readonly queuedMs: number;
  /** The limiter's time, for a reset by the wall clock. */
  readonly time: Time;
}

/** One format of the rate limit fields. */
export interface Dialect {
  /** The names of the fields. */
  readonly names: readonly string[];
  /**
   * Writes the fields for a decision of `spend` that the store made, in which at least one limit applied, without its
   * hidden limits (see `visiblePart`). Fields that are already set are kept or combined.
   */
  write(decision: Decided, fields: ResponseFields, times: FieldTimes): void;
}
