import type { BucketName, Mode } from '../store/store.ts';

/** An entry of `Limiter.charge` and `Limiter.refund`: one bucket and a number of tokens. */
export interface CostEntry<Name extends string = string> extends BucketName {
  readonly limit: Name;
  /** Tokens, a whole number of at least 0. Default: 1. */
  readonly cost?: number | undefined;
  /** Not allowed here: only `spend` and `check` have a mode. */
  readonly mode?: never;
  /** Not allowed here: only `spend` and `check` have a share. */
  readonly share?: never;
}

/** An entry of `Limiter.spend` and `Limiter.check`: one bucket, a cost, a mode and a share. */
export interface SpendEntry<Name extends string = string> extends BucketName {
  readonly limit: Name;
  /** Tokens, a whole number of at least 0. Default: 1. */
  readonly cost?: number | undefined;
  /** How the entry takes part in the decision, see {@link Mode}. Default: `check-and-spend`. */
  readonly mode?: Mode | undefined;
  /**
   * The part of the bucket that the entry may use up, above 0 and at most 1. What is left above it stays for entries with
   * a larger share. The figures of the result are those of this part. Not with mode `charge`. Default: 1.
   */
  readonly share?: number | undefined;
}

/**
 * Alternatives for `Limiter.spend` and `Limiter.check`: 1 to 4 batches of at most 8 entries. The first that
 * passes is the decision. A bucket may occur in several alternatives, but not twice in one.
 */
export interface FirstOf<Name extends string = string> {
  readonly firstOf: readonly (readonly SpendEntry<Name>[])[];
}
