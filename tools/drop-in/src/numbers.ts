/**
 * What this package shares with `rateLimitStorage` of `@sluice/nestjs`: the numbers of other libraries as numbers of
 * buckets. It may change in any version; users need none of it.
 *
 * @module
 */
export {
  bucketNumbers,
  type BucketNumbers,
  MAX_FILL_MS,
  MAX_PERIOD_MS,
  numberOf,
  type WindowNumbers,
} from './numbers/bucket-numbers.ts';
