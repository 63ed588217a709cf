/**
 * Limits as YAML files: checked to line and column, reloaded live.
 *
 * @module
 */
export { checkLimits, type CheckOptions } from './check-limits.ts';
export type { Problem } from './check/problem.ts';
export type { LimitFilesEvent } from './live/limit-files-event.ts';
export type { LiveLimits } from './live/live-limits.ts';
export type { LiveStatus } from './live/live-status.ts';
export { watchLimits, type WatchOptions } from './live/watch-limits.ts';
export { loadLimits, type LoadOptions } from './load-limits.ts';
export type { LoadedLimits } from './loaded-limits.ts';
export type { KeyOptions, LimitKeys, LimitSources } from './options.ts';
export type { LimitSource } from './sources/source.ts';
