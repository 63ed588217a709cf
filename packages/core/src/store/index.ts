/**
 * Parts for stores in other packages, so that the rule and the validation of options are implemented once.
 *
 * @module
 */
export { passes } from './all-or-nothing.ts';
export { monotonicClock } from '../time/clock.ts';
export { complaint, isInstance, messageOf, reasonOf, shown, shownName, shownText } from '../checks/errors.ts';
export type { Notify, Tellable } from '../events/event.ts';
export { Deadlines } from '../time/deadlines.ts';
export { systemScheduler, type Alarm, type Cancel, type Scheduler } from '../time/scheduler.ts';
export type { Pending } from '../time/deadline-promise.ts';
export type { Wait } from '../time/deadline-queue.ts';
export { fits, waitFor } from '../rule/gcra.ts';
export { notifier, type Listeners } from '../events/event-sink.ts';
export { checkFunction, checkOptions, wholeNumber, type Hints } from '../checks/options.ts';
export { checkReadyOptions } from './ready-options.ts';
export { TICKS_PER_MICRO, TICKS_PER_MS } from '../rule/ticks.ts';
