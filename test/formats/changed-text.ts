import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** In the environment: a change of a file, as JSON. The mutants of formats set it: modules are changed while they are loaded. */
export const CHANGE = 'SLUICE_CHANGE';

/** The text of a file of this clone, by its path from the root; of a mutant the changed one. */
export function textOf(path: string): string {
  const file = fileURLToPath(new URL(`../../${path}`, import.meta.url));
  const change = JSON.parse(process.env[CHANGE] ?? 'null') as { readonly path: string; readonly source: string } | null;
  return change?.path === file ? change.source : readFileSync(file, 'utf8');
}
