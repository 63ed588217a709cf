import { loadLimits, loadWithoutKeys, type LimitKeys, type LimitSources, type LoadedLimits } from '@sluice/config';
import type { IdFormat, Key } from '@sluice/core';
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
  };
  const module = call.text('keys');
  if (module === undefined) return loadWithoutKeys({ ...sources, formats: moreFormats() });
  return loadLimits({ ...sources, keys: await keysOf(module) });
}

/**
 * Returns the id formats that a file may name in addition to those of the core: those of domain names, and those of the
 * keys of the option `--keys`.
 */
export async function formatsFor(call: Call): Promise<readonly (IdFormat | Key<never>)[]> {
  const module = call.text('keys');
  const keys = module === undefined ? {} : await keysOf(module);
  const given = Object.values(keys).map((key) => (isKey(key) ? key : key.key));
  return [...moreFormats(), ...given];
}

/** Failure policies are left out: during an outage a command reports it, and does not decide by itself. */
async function keysOf(module: string): Promise<LimitKeys> {
  const keys = (await importModule('--keys', module, 'keys')) as LimitKeys;
  if (typeof keys !== 'object' || keys === null) return keys;
  const entries = Object.entries(keys).map(([name, given]) => [name, isKey(given) ? given : { key: given?.key }]);
  return Object.fromEntries(entries) as LimitKeys;
}
