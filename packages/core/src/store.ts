/**
 * For a store of your own: the types of what a limiter asks it, and the rule by which it decides. `Store` itself and
 * `Time` are in `@sluice/core`, and the tests of a store in `@sluice/core/testing`.
 *
 * @module
 */
export { storeGuard } from './failure/store-guard.ts';
export { otherNumbers } from './limiter/other-numbers.ts';
export { TICKS_PER_MICRO, TICKS_PER_MS } from './rule/ticks.ts';
export { decidedReading, joinedReading, readingsOf } from './store/alternatives.ts';
export { bucketKey } from './store/bucket-key.ts';
export { endOfPeriod, StalePeriodError, type CalendarPeriod } from './store/calendar-period.ts';
export type { LeaseDescription, OvershootNumbers, StoreRate, StoreTreatment } from './store/lease-description.ts';
export { storeBlocks, type BlocksText } from './store/shared-blocks.ts';
export {
  MODES,
  nowTicksAt,
  type BucketName,
  type DecidingOperation,
  type Mode,
  type ReadingToFill,
  type SlotHolding,
  type StoreBucket,
  type StoreCap,
  type StoreCharge,
  type StoreHold,
  type StoreOperation,
  type StorePressure,
  type StoreReading,
  type StoreRefund,
  type StoreReport,
  type StoreSync,
  type StoreTraits,
  type StoreTransaction,
  type StoreBlock,
  type StoreBlocks,
} from './store/store.ts';
export { levelAfter, levelAfterRefund, passes } from './store/transaction-rule.ts';
export type { Alarm, Cancel } from './time/time.ts';
