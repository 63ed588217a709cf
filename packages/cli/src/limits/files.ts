import {
  loadLimits,
  loadWithoutKeys,
  type CheckLimitsOptions,
  type LimitKeys,
  type LimitSources,
  type LoadedLimits,
} from '@sluice/config';
import { isKey } from '@sluice/core/kit';
import type { Call } from '../console/command.ts';
import { importModule } from '../console/module.ts';
import { moreFormats } from './formats.ts';
import { checkStdin, sourceOf } from './sources.ts';

/** The files of limits and overrides, as words of the command line. */
export interface LimitFiles {
  readonly limits: string;
  readonly overrides: string | undefined;
}

/**
 * Loads limits and overrides as a server does. The keys come from the module of the option `--keys`, otherwise from the
 * `idFormat` of each limit.
 *
 * @throws {SluiceError} `ERR_LIMIT_FILES` if the files have problems.
 * @throws {UsageError} If the module can't be loaded, or exports no `keys`.
 */
export async function loadFiles({ limits, overrides }: LimitFiles, call: Call): Promise<LoadedLimits> {
  const { terminal } = call.console;
  checkStdin([limits, overrides]);
  const sources: LimitSources = {
    defaults: sourceOf(limits, terminal),
    ...(overrides !== undefined && { overrides: sourceOf(overrides, terminal) }),
    maxBytes: maxBytesOf(call),
  };
  const module = call.text('keys');
  if (module === undefined) return loadWithoutKeys({ ...sources, formats: moreFormats() });
  return loadLimits({ ...sources, keys: await keysOf(module) });
}

/** Returns by what ids are checked: the keys of the option `--keys`, otherwise the `idFormat` of each limit. */
export async function idsOf(call: Call): Promise<Pick<CheckLimitsOptions, 'keys' | 'formats'>> {
  const module = call.text('keys');
  return module === undefined ? { formats: moreFormats() } : { keys: await keysOf(module) };
}

/** Returns the maximum size of a file of limits or overrides, in bytes. */
export function maxBytesOf(call: Call): number {
  return call.wholeNumber('maxBytes', { min: 1, max: 67_108_864, unset: 2_097_152 });
}

/** Failure policies are left out: during an outage a command reports it, and does not decide by itself. */
async function keysOf(module: string): Promise<LimitKeys> {
  const keys = (await importModule('--keys', module, 'keys')) as LimitKeys;
  if (typeof keys !== 'object' || keys === null) return keys;
  const entries = Object.entries(keys).map(([name, given]) => [name, isKey(given) ? given : { key: given?.key }]);
  return Object.fromEntries(entries) as LimitKeys;
}
