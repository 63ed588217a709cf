import type { StoreTransaction } from '@sluice/core/store';
import type { BucketKeys } from '../batches/bucket-keys.ts';
import type { LeasedBucket } from './rules/leased-bucket.ts';
import type { LeasedBuckets } from './rules/leased-buckets.ts';
import { followFrom, tokensOf, type LeaseLimits } from './lease-limits.ts';
import type { LeasedEntry } from './leased-levels.ts';

interface BucketLookupParts {
  readonly keys: BucketKeys;
  readonly limits: LeaseLimits;
  readonly buckets: LeasedBuckets;
  readonly maxKeys: number;
  /** Whether a stream needs the tag of its buckets. */
  readonly isCluster: boolean;
}

/** Finds the leased buckets of transactions, and adds new ones. */
export class BucketLookup {
  readonly #parts: BucketLookupParts;
  readonly #buckets: LeasedBuckets;

  constructor(parts: BucketLookupParts) {
    this.#parts = parts;
    this.#buckets = parts.buckets;
  }

  /** Returns a transaction with its bucket, which is noted as used. Undefined if only Redis decides it. */
  entryOf(transaction: StoreTransaction, nowTicks: number): LeasedEntry | undefined {
    const tokens = tokensOf(transaction);
    if (tokens === undefined) return undefined;
    const known = this.#buckets.find(transaction);
    const bucket =
      known !== undefined && followFrom(known.terms, transaction)
        ? known
        : this.#withTerms(known, transaction, nowTicks);
    if (bucket === undefined) return undefined;
    bucket.usedAtTicks = nowTicks;
    if (bucket.isLeftToRedis) {
      // To find out when it is repaired, and what Redis has decided meanwhile.
      bucket.touch(nowTicks);
      return undefined;
    }
    return { bucket, tokens, mode: transaction.mode, transaction, spent: undefined, waitTicks: 0, levelTicks: 0 };
  }

  /** A bucket that is new, or whose limit has other numbers than before. */
  #withTerms(
    known: LeasedBucket | undefined,
    transaction: StoreTransaction,
    nowTicks: number,
  ): LeasedBucket | undefined {
    const { limits, keys, buckets, isCluster, maxKeys } = this.#parts;
    const terms = limits.termsOf(transaction);
    if (terms === undefined) return undefined;
    if (known !== undefined) {
      known.setTerms(terms, nowTicks);
      return known;
    }
    const { limit, id } = transaction;
    const key = keys.keyOf(transaction);
    const tag = isCluster ? keys.tagOf(transaction) : '';
    if (tag === undefined) {
      limits.reportStrict(limit, 'the function `hashTag` returned no tag for one of its buckets');
      return undefined;
    }
    const bucket = buckets.add({ limit, id, key, tag }, terms, nowTicks);
    if (bucket === undefined) limits.reportStrict(limit, `more than ${maxKeys} buckets are in use (maxKeys)`);
    return bucket;
  }
}
