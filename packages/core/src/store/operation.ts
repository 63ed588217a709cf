import type { StoreBucket, StoreCap, StoreCharge, StoreHold, StoreRefund, StoreTransaction } from './store.ts';

/**
 * One operation on buckets, see {@link Store.run}.
 *
 * - `spend`: tries batches in order, and takes the first that passes. The reading has the levels before anything was taken.
 * - `check`: finds out which of them would pass, and takes nothing. The levels are as for `spend`.
 * - `charge`: takes tokens whether they fit or not, up to `capTicks`. The levels are those after the charge.
 * - `refund`: gives tokens back; fills a bucket at most. The levels are those after the refund.
 * - `cap`: cuts levels to at most their `capTicks`, after their limits were raised. The levels are those after the cut. A
 *   limiter caps each bucket once for each raise. After each cut, processes that still use the old numbers may allow
 *   the old burst once more.
 * - `renew`: renews the leases of slots, which then end `leaseMs` from now. Slots that the store does not have any more,
 *   because their lease has ended or its data was lost, are held again, even if more are held then than the limit
 *   allows: they are in use. Only for stores with the trait `slots`.
 * - `release`: releases slots, and does nothing for those that the store does not have. Only for stores with the trait
 *   `slots`.
 * - `reset`: deletes buckets, so that they are full, and all their slots are free.
 */
export type StoreOperation =
  | {
      readonly kind: 'spend' | 'check';
      /**
       * 1 to 4 batches, usually one; several have at most 8 transactions each. A batch passes if all its `check-and-spend`
       * and `check-only` fit; one without transactions passes. Of the batch that passes, each `check-and-spend` is taken,
       * each `charge`, and each `spend-only` that fits. A batch that is denied takes nothing, and those after the one that
       * passes are not tried. A bucket may occur in several batches, but not twice in one.
       *
       * A store whose buckets are on several servers may try the batches one after another, each atomically.
       */
      readonly alternatives: readonly (readonly StoreTransaction[])[];
    }
  | { readonly kind: 'charge'; readonly batch: readonly StoreCharge[] }
  | { readonly kind: 'refund'; readonly batch: readonly StoreRefund[] }
  | { readonly kind: 'cap'; readonly batch: readonly StoreCap[] }
  | { readonly kind: 'renew' | 'release'; readonly batch: readonly StoreHold[] }
  | { readonly kind: 'reset'; readonly batch: readonly StoreBucket[] };

/** An operation that decides batches. */
export type DecidingOperation = Extract<StoreOperation, { readonly alternatives: unknown }>;
