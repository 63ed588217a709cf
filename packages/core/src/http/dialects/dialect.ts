import type { Decision, Result } from '../../decision/decision.ts';

/** The fields of a response, and the decision that its request has so far. */
export interface ResponseFields {
  readonly decision: { readonly allowed: boolean; readonly results: readonly Result[] } | undefined;
  /** A field of the response so far. */
  getField(name: string): number | string | readonly string[] | undefined;
  /** Sets a field, instead of what it was. A response whose fields were sent stays as it is. */
  setField(name: string, value: string): void;
}

/** One way to tell clients their limits. */
export interface Dialect {
  /** The fields that the dialect writes. */
  readonly names: readonly string[];
  /**
   * Writes a decision that the store made and in which at least one limit applied, without its hidden limits. Fields
   * that are there already stay, or are joined with those of the decision.
   *
   * @param retryAfter - The seconds of Retry-After; 0 when allowed.
   */
  write(decision: Decision, fields: ResponseFields, retryAfter: number): void;
}
