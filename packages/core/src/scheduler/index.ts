/**
 * A scheduler of calls to an API that limits you: calls wait here, by priority and fairness, and take their tokens as late
 * as they can.
 *
 * @module
 */
export { createScheduler } from './create-scheduler.ts';
export type { Scheduler, SchedulerOptions } from './scheduler.ts';
export type { ScheduleOptions } from './schedule-options.ts';
export { SchedulerError, type SchedulerReason } from './scheduler-error.ts';
