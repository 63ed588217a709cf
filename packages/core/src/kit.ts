/**
 * What the other packages of the family share with this one, so that every rule and every check of an option has one
 * place: stores, id formats, and packages that read limits from elsewhere. It may change in any version; users need
 * none of it.
 *
 * @module
 */
export {
  complaint,
  isInstance,
  listed,
  messageOf,
  reasonOf,
  shown,
  shownName,
  shownText,
  type Complaint,
} from './checks/errors.ts';
export { clientAddressFinder, type ClientAddressFinder } from './client/client-address.ts';
export { checkBoolean, checkFunction, checkOptions, leafOf, oneOf, wholeNumber, type Hints } from './checks/options.ts';
export { LIMIT_HINTS } from './checks/peer-names.ts';
export type { EventSink, EventLine } from './events/event.ts';
export { eventSink, type EventSinkOptions } from './events/event-sink.ts';
export { ThrottledChanges } from './events/throttle.ts';
export { isIdFormat, isKey, keyOf } from './keys/key.ts';
export { limitsOf, timeOf } from './limiter/create-limiter.ts';
export { bucketsToReset } from './limiter/entry-batches.ts';
export {
  borrowChangeOf,
  borrowTermsOf,
  ceilingOf,
  checkedTenants,
  checkWeight,
  type BorrowTerms,
} from './limits/borrowing.ts';
export { checkOvershoot, overshootOf, type Exactness } from './limits/overshoot.ts';
export { checkedLeaseMs, concurrencyOf, MAX_SLOTS, SLOT_SCOPES } from './limits/concurrency.ts';
export { kindOf, type LimitKind } from './limits/limit-kind.ts';
export { checkLoadSettings, LOAD_KEY, LOAD_RATE } from './limits/load-limit.ts';
export { checkedLoadMs, checkSignal, LOAD_HINTS, loadSettings, MAX_CLASSES } from './load/load-options.ts';
export { checkAtMost, defineLimits } from './limits/define-limits.ts';
export type { Limit } from './limits/limit.ts';
export { checkLimitName, LIMIT_NAME_PATTERN } from './limits/limit-name.ts';
export { checkKind, OVERRIDE_HINTS, overrideRate, type OverrideRate } from './limits/overrides/override.ts';
export { checkBorrowing, OverrideTotals } from './limits/overrides/override-totals.ts';
export { overridesOf } from './limits/overrides/override-list.ts';
export { overriddenPool, withPools } from './limits/pools.ts';
export { boundsOf, type Bound } from './rule/at-most.ts';
export { quotaOf } from './limits/quota.ts';
export { CALENDAR_UNITS } from './calendar/calendar.ts';
export { DURATION_PATTERN, durationTicks, type DurationRange } from './rule/duration.ts';
export { fits, waitFor, wholeShareOf } from './rule/gcra.ts';
export {
  checkedDebt,
  checkedPeriodTicks,
  checkedTokens,
  checkedWaitTicks,
  MAX_TOKENS,
  quotaRateOf,
  rateOf,
  type Rate,
} from './rule/rate.ts';
export { MAX_TOLERANCE_TICKS, TICKS_PER_MICRO, TICKS_PER_MS } from './rule/ticks.ts';
export { nowTicksAt } from './store/store.ts';
export { levelAfter, passedAlternative, passes, readUntilPassed, slotsTaken } from './store/transaction-rule.ts';
export { checkReadyOptions } from './store/ready-options.ts';
export type { DeadlinePromise, Wait } from './time/deadline-queue.ts';
export { Deadlines } from './time/deadlines.ts';
export { checkTime, systemTime } from './time/time.ts';
