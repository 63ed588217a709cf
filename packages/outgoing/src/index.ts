/**
 * Calls to an API that limits you: what sends requests, behind a scheduler of `@sluice/core/scheduler`.
 *
 * @module
 */
export { limitedFetch, type LimitedFetchOptions } from './limited-fetch.ts';
export { limitedDispatch, type DispatchedCall, type LimitedDispatchOptions } from './limited-dispatch.ts';
export { limitedProcessor, type LimitedJob } from './limited-processor.ts';
export type { CallsOptions, LimitOfCalls, ScheduledCallsOptions } from './calls-options.ts';
export type { FieldSource } from './fields/field-source.ts';
export type { Lesson } from './fields/lesson.ts';
export { taughtBy, type Denied, type Teaching } from './fields/teaching.ts';
export { Learning, type LearnOptions } from './learning/learning.ts';
export type { HoldOptions, LearntCall, ProviderAnswer } from './learning/learnt-call.ts';
