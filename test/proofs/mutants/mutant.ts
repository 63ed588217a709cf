import type { Mutation } from '../engine/mutation.mjs';

/** A source that is broken on purpose, by one change. */
export interface Mutant extends Mutation {
  /** What is wrong with it. */
  readonly about: string;
  /** The theorem that is tried before all others about its source, because it is likely to refute it. */
  readonly first?: string;
}
