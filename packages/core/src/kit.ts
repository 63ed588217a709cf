/**
 * What the other packages of the family share with this one, so that every rule and every check of an option has one
 * place: stores, id formats, and packages that read limits from elsewhere. It may change in any version; users need
 * none of it.
 *
 * @module
 */
export {
  classInWords,
  complaint,
  isInstance,
  listed,
  messageOf,
  reasonOf,
  shown,
  shownName,
  shownText,
  ValueInWords,
} from './checks/errors.ts';
export {
  checkBoolean,
  checkFunction,
  checkOptions,
  isPlainObject,
  leafOf,
  oneOf,
  wholeNumber,
  type Hints,
} from './checks/options.ts';
export { LIMIT_HINTS } from './checks/peer-names.ts';
export type { EventSink } from './events/event.ts';
export { eventSink } from './events/event-sink.ts';
export { ThrottledChanges } from './events/throttle.ts';
export { RUN_INTO, type AnswerSink, type RunInto } from './failure/run-into.ts';
export { isEveryone } from './keys/everyone.ts';
export { isIdFormat, isKey, keyOf } from './keys/key.ts';
export { assertFits, createDataLimiter, emitOf, limitsOf, timeOf } from './limiter/create-limiter.ts';
export { bucketsToReset } from './limiter/entries.ts';
export { kindOf, ofKind } from './kinds/limit-of-kind.ts';
export { kindOfLimit, kindsIn, type AnyKind } from './kinds/kind.ts';
export { checkAtMost, RATE } from './kinds/rate/rate.ts';
export { checkOption, type OptionRow, type OptionValue } from './limits/option.ts';
export { overrideHints, overrideRate, wrongNumbers } from './definitions/overrides/override.ts';
export { defineLimits, LIMIT_ROWS } from './definitions/define-limits.ts';
export { checkLimitName, LIMIT_NAME_PATTERN } from './limits/limit-name.ts';
export type { Limit, OverrideRate } from './limits/limit.ts';
export type { LimitParts } from './limits/limit-parts.ts';
export { addTo, overridesOf } from './definitions/overrides/override-list.ts';
export { boundsOf } from './rule/at-most.ts';
export { DURATION_PATTERN, durationTicks, type DurationRange } from './rule/duration.ts';
export { fits, levelOf, wholeShareOf } from './rule/gcra.ts';
export { MAX_TOKENS, type Numbers } from './rule/rate.ts';
export { MAX_TOLERANCE_TICKS } from './rule/ticks.ts';
export { NUMBER_OF_KIND, NUMBER_OF_MODE, REFUND_OF_DECISION, type ServerEntry } from './store/server-entry.ts';
export { findStalePeriod, periodEndTicks, periodTicks, withPeriods } from './store/server-periods.ts';
export { checkReadyOptions } from './store/ready-options.ts';
export { ServerClock } from './store/server-clock.ts';
export { CallDeadlines, checkDeadline } from './time/call-deadlines.ts';
export { CallQueue } from './time/call-queue.ts';
export type { Wait } from './time/deadline-queue.ts';
export { Deadlines } from './time/deadlines.ts';
export { afterInput, systemTime } from './time/system-time.ts';
export { checkTime } from './time/time.ts';
