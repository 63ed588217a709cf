import type { LimitSource } from '@sluice/config';
import { stringify } from 'yaml';
import { checkTexts } from './checked.ts';
import { converted, type Imported } from './convert.ts';
import { readEnvoyFiles } from './envoy-file.ts';
import type { ImportAs } from './limit-numbers.ts';

export type { Imported } from './convert.ts';
export { IMPORT_AS } from './limit-numbers.ts';

const OPTIONS = { lineWidth: 0, flowCollectionPadding: true } as const;

/**
 * Imports files of envoyproxy/ratelimit.
 *
 * @throws {SluiceError} `ERR_LIMIT_FILES` if they have mistakes, or what can't be imported.
 */
export async function imported(files: readonly LimitSource[], as: ImportAs): Promise<Imported> {
  const result = converted(await readEnvoyFiles(files), as);
  await checkTexts({ limits: limitsText(result), tables: tablesText(result) });
  return result;
}

/** The file of limits, as YAML. */
export function limitsText({ limits }: Imported): string {
  return stringify(limits, OPTIONS);
}

/** The file of tables, as YAML. */
export function tablesText({ tables }: Imported): string {
  return stringify(tables, OPTIONS);
}
