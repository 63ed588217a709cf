import type { FieldSource } from './field-source.ts';

/** What an answer says about one limit of the provider. */
export interface Lesson {
  /** What the limit is called: `requests`, `tokens`, `input-tokens`, `output-tokens`, or the name of a policy. */
  readonly of: string;
  /** What is counted: a call is one request, but not one token. */
  readonly unit: 'requests' | 'tokens' | 'other';
  /** How much is left: a whole number from 0 up. */
  readonly remaining: number;
  /** In how many milliseconds there is more, from 0 to `Infinity`. Undefined if it is not said. */
  readonly waitMs: number | undefined;
}

/** A family of fields, and how its limits are read. */
export interface Dialect {
  readonly name: string;
  /** @param nowMs - The wall clock of the provider, in milliseconds since 1970. */
  read(fields: FieldSource, nowMs: number): readonly Lesson[];
}
