import { readFileSync } from 'node:fs';

const ROOT = new URL('../../../', import.meta.url);

/** A text that replaces another one in a source, on purpose. */
export interface Mutation {
  /** The path from the root. */
  readonly in: string;
  readonly replace: string;
  readonly by: string;
}

/** Reads a script, with the change of the mutant that is being tried. */
export function sourceText(path: string): string {
  const text = readFileSync(new URL(path, ROOT), 'utf8');
  const { SLUICE_MUTANT } = process.env;
  if (SLUICE_MUTANT === undefined) return text;
  const mutation = JSON.parse(SLUICE_MUTANT) as Mutation;
  if (mutation.in !== path) return text;
  const parts = text.split(mutation.replace);
  if (parts.length !== 2) throw new Error(`${path} has the text of a mutant ${parts.length - 1} times instead of once`);
  return parts.join(mutation.by);
}
