/**
 * Reads limits and overrides from YAML files, reports mistakes by line and column, and reloads changed files.
 *
 * - {@link loadLimits} reads the files when the process starts.
 * - {@link watchLimits} follows the files and passes their changes to a limiter.
 * - {@link checkLimits} validates the files without the application's code, for example in a CI pipeline.
 * - {@link loadWithoutKeys} reads them without that code, for tools that name ids themselves.
 *
 * @module
 */
export { checkLimits, type CheckLimitsOptions, type CheckOptions } from './load/check-limits.ts';
export { overrideEndings, type OverrideEnding } from './load/override-ends.ts';
export type { Problem } from './check/problem.ts';
export type { LimitFilesEvent, LiveLimits, LiveStatus } from './live/live-limits.ts';
export { watchLimits, type WatchOptions } from './live/watch-limits.ts';
export { loadWithoutKeys } from './load/load-without-keys.ts';
export { loadLimits, type LoadedLimits, type LoadOptions } from './load/load-limits.ts';
export type { KeyOptions, LimitKeys, LimitSources } from './load/options.ts';
export type { LimitSource, NamedSource } from './sources/source.ts';
