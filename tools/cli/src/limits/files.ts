import {
  checkLimits,
  loadLimits,
  loadWithoutKeys,
  type CheckLimitsOptions,
  type LimitKeys,
  type LimitSources,
  type LoadedLimits,
  type Problem,
} from '@sluice/config';
import type { IdFormat } from '@sluice/core';
import { isKey } from '@sluice/core/kit';
import { domain, fqdnSet } from '@sluice/domains';
import type { Call } from '../console/command.ts';
import { UsageError } from '../console/failure.ts';
import { importModule } from '../console/module.ts';
import { checkFiles, sourceOf } from './sources.ts';

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
  await checkFiles([limits, overrides]);
  const sources: LimitSources = {
    defaults: sourceOf(limits, terminal),
    ...(overrides !== undefined && { overrides: sourceOf(overrides, terminal) }),
    maxBytes: maxBytesOf(call),
  };
  const module = call.text('keys');
  if (module === undefined) return loadWithoutKeys({ ...sources, formats: moreFormats() });
  return loadLimits({ ...sources, keys: await keysOf(module) });
}

/**
 * Returns the problems of a file of limits, and of each file of overrides beside it. Ids are checked by the keys of the option
 * `--keys`, otherwise by the `idFormat` of each limit.
 *
 * @param words - The file of limits, then those of overrides.
 */
export async function problemsOf(words: readonly string[], call: Call): Promise<readonly Problem[]> {
  const { terminal } = call.console;
  const [limits = '', ...overrides] = words;
  await checkFiles(words);
  const defaults = sourceOf(limits, terminal);
  const pairs = overrides.length === 0 ? [undefined] : overrides.map((word) => sourceOf(word, terminal));
  const module = call.text('keys');
  const ids = module === undefined ? { formats: moreFormats() } : { keys: await keysOf(module) };
  const common = { defaults, ...ids, maxBytes: maxBytesOf(call) };
  // The problems of the limits are found again beside each file of overrides.
  const problems = new Map<string, Problem>();
  for (const source of pairs) {
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    for (const problem of await checkLimits({ ...common, overrides: source })) problems.set(problem.text, problem);
  }
  return [...problems.values()];
}

/** Returns what a package needs to read files without the code of a server: the sources, and how it reads ids. */
export async function sourcesOf({ limits, overrides }: LimitFiles, call: Call): Promise<CheckLimitsOptions> {
  const { terminal } = call.console;
  await checkFiles([limits, overrides]);
  const module = call.text('keys');
  return {
    defaults: sourceOf(limits, terminal),
    overrides: overrides === undefined ? undefined : sourceOf(overrides, terminal),
    ...(module === undefined ? { formats: moreFormats() } : { keys: await keysOf(module) }),
    maxBytes: maxBytesOf(call),
  };
}

/** Returns the problems of a file of tables for the limits of a file, which must be on disk. */
export async function tableProblemsOf(limits: string, tables: string, call: Call): Promise<readonly Problem[]> {
  const { terminal } = call.console;
  await checkFiles([limits, tables]);
  if (limits === '-') throw new UsageError('With `--tables`, the limits must be a file: stdin (-) is read only once.');
  const { checkTableFiles } = await import('@sluice/serve');
  return checkTableFiles({
    limits: sourceOf(limits, terminal),
    tables: sourceOf(tables, terminal),
    formats: moreFormats(),
    maxBytes: maxBytesOf(call),
  });
}

/** The id formats that files may name, in addition to those of the core. Which names a server accepts is in its code. */
export function moreFormats(): readonly IdFormat[] {
  const addresses = true;
  return [domain(undefined, { addresses }).format, fqdnSet(undefined, { addresses, wildcards: true }).format];
}

/** Returns the maximum size of a file of limits or overrides, in bytes. */
function maxBytesOf(call: Call): number {
  return call.wholeNumber('maxBytes', { min: 1, max: 67_108_864, unset: 2_097_152 });
}

/** Failure policies are left out: during an outage a command reports it, and does not decide by itself. */
async function keysOf(module: string): Promise<LimitKeys> {
  const keys = (await importModule('--keys', module, 'keys')) as LimitKeys;
  if (typeof keys !== 'object' || keys === null) return keys;
  const entries = Object.entries(keys).map(([name, given]) => [name, isKey(given) ? given : { key: given?.key }]);
  return Object.fromEntries(entries) as LimitKeys;
}
