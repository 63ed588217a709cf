import type { Mode, StoreHold, StoreOperation, StoreRefund, StoreTransaction } from './store.ts';

/** One entry of a batch: a transaction, a charge, a refund, a cap, a hold or a bucket name, depending on the kind. */
export type ServerEntry = Partial<StoreTransaction & StoreRefund & Omit<StoreHold, 'slots'>>;

/** The number of what a `spend` does to a bucket, in decide.lua and schema.sql, by its mode. */
export const NUMBER_OF_MODE: Readonly<Record<Mode, number>> = {
  'check-and-spend': 0,
  'check-only': 1,
  'spend-only': 2,
  charge: 9,
};
/** The number of what another operation does to a bucket, by its kind. */
export const NUMBER_OF_KIND: Readonly<Record<Exclude<StoreOperation['kind'], 'spend'>, number>> = {
  check: 3,
  charge: 4,
  refund: 5,
  reset: 7,
  cap: 8,
  renew: 12,
  release: 13,
};
/** The number of a refund which has a `tatAfterSpendTicks`. */
export const REFUND_OF_DECISION = 6;
