/**
 * Limits that deny a part of the requests while the process has too much to do.
 *
 * @module
 */
export { load, type LoadLimitOptions } from './kinds/load/load.ts';
export { eventLoop, loadFrom } from './kinds/load/sources.ts';
export type { Load } from './kinds/load/load-kind.ts';
export type { LoadOptions } from './kinds/load/load-options.ts';
export type { ShedMessage } from './kinds/load/shedding.ts';
export type { LoadSource } from './kinds/load/load-source.ts';
