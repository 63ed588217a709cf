/**
 * What stores of other packages are made of, so that the rule and every check of an option stand once.
 *
 * @module
 */
export { passes } from '../all-or-nothing.ts';
export { monotonicClock } from '../clock.ts';
export { complaint, isInstance, messageOf, reasonOf, shown, shownName, shownText } from '../errors.ts';
export type { Notify, Tellable } from '../events.ts';
export { Deadlines } from '../failure/deadlines.ts';
export { systemScheduler, type Alarm, type Cancel, type Scheduler } from '../failure/scheduler.ts';
export type { Pending } from '../failure/pending.ts';
export type { Wait } from '../failure/wait-list.ts';
export { fits, waitFor } from '../gcra.ts';
export { notifier, type Listeners } from '../notifier.ts';
export { checkFunction, checkOptions, wholeNumber, type Hints } from '../options.ts';
export { checkReadyOptions } from '../ready-options.ts';
export { TICKS_PER_MICRO, TICKS_PER_MS } from '../ticks.ts';
