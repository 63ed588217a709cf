import type { Kind } from '../scene.ts';

/** What must find a mutant. */
export type Finder =
  /** Scenes of one kind, in which the bound is checked: see test/property/leases.test.ts. */
  | { readonly scenes: number; readonly kind: Kind }
  /** The tests of a file whose names contain a text. */
  | { readonly file: string; readonly named: string };

/** A rule of leases that is broken by one change of the source. */
export interface RuleMutant {
  readonly name: string;
  /** The changed file, below {@link CORE} unless it is a path from the root. */
  readonly in: string;
  /** A text that occurs once in the file. */
  readonly replace: string;
  readonly by: string;
  readonly finder: Finder;
}

export const CORE = 'packages/redis/src/leases/rules';
export const SYNC_MODEL = 'scripts/processes/sync-model.ts';
export const STRICT_MODEL = 'test/leases/redis-model.ts';
const TESTS = 'packages/redis/test/leases/rules';

export const inScenes = (kind: Kind, scenes: number): Finder => ({ kind, scenes });
export const inBucketTest = (named: string): Finder => ({ file: `${TESTS}/leased-bucket.test.ts`, named });
export const inBucketsTest = (named: string): Finder => ({ file: `${TESTS}/leased-buckets.test.ts`, named });
export const inStreamTest = (named: string): Finder => ({ file: `${TESTS}/lease-stream.test.ts`, named });
export const inBatchTest = (named: string): Finder => ({ file: `${TESTS}/decide.test.ts`, named });
export const inRecoveryTest = (named: string): Finder => ({ file: 'test/property/lease-recovery.test.ts', named });
