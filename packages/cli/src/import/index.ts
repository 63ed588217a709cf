import { stringify } from 'yaml';
import type { Imported } from './convert.ts';

export { converted, type Imported } from './convert.ts';
export { readEnvoyFile } from './envoy-file.ts';
export { IMPORT_AS } from './limit-numbers.ts';

const OPTIONS = { lineWidth: 0, flowCollectionPadding: true } as const;

/** The file of limits, as YAML. */
export function limitsText({ limits }: Imported): string {
  return stringify(limits, OPTIONS);
}

/** The file of tables, as YAML. */
export function tablesText({ tables }: Imported): string {
  return stringify(tables, OPTIONS);
}
