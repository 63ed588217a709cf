import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { UsageError } from './failure.ts';

/**
 * Loads an ES module of the user's and returns one of its exports.
 *
 * @param option - The option that names the module.
 * @throws {UsageError} If the module can't be loaded, or does not have the export.
 */
export async function importModule(option: string, file: string, name: string): Promise<unknown> {
  let module: Readonly<Record<string, unknown>>;
  try {
    module = (await import(pathToFileURL(resolve(file)).href)) as Readonly<Record<string, unknown>>;
  } catch (cause) {
    throw new UsageError(`\`${option}\` must be an ES module, but ${file} can't be loaded: ${String(cause)}`);
  }
  if (module[name] !== undefined) return module[name];
  throw new UsageError(`\`${option}\` must be a module that exports \`${name}\`, but ${file} does not.`);
}
