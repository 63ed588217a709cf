import { checkLimits, type LimitSource, type Problem } from '@sluice/config';
import { SluiceError } from '@sluice/core';
import { checkTableFiles } from '@sluice/serve';
import { stringify } from 'yaml';
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

/** The texts of the files that an import makes. */
interface Texts {
  readonly limits: string;
  readonly tables: string;
}

/**
 * Rejects files that `sluice check` would reject, such as tables that are too large.
 *
 * @throws {SluiceError} `ERR_LIMIT_FILES`
 */
async function checkTexts({ limits, tables }: Texts): Promise<void> {
  const sources = { limits: () => limits, tables: () => tables };
  const problems: readonly Problem[] = [
    ...(await checkLimits({ defaults: sources.limits })),
    ...(await checkTableFiles(sources)),
  ];
  if (problems.length === 0) return;
  const lines = problems.map(({ message }) => message).join('\n');
  throw new SluiceError(
    'ERR_LIMIT_FILES',
    `The files can't be imported, because what they become is not valid:\n${lines}`,
  );
}

/** The file of limits, as YAML. */
export function limitsText({ limits }: Imported): string {
  return stringify(limits, OPTIONS);
}

/** The file of tables, as YAML. */
export function tablesText({ tables }: Imported): string {
  return stringify(tables, OPTIONS);
}
