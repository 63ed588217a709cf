import { readFileSync } from 'node:fs';
import type { Part } from './theorem.ts';
import { withMutation, type Mutation } from './mutation.mjs';

const ROOT = new URL('../../../', import.meta.url);

/** What breaks the scripts that are read. The loader breaks modules. */
let current: Mutation | undefined;

/** Reads a script, with the change of the mutant that is being tried. */
export function sourceText(path: string): string {
  const text = readFileSync(new URL(path, ROOT), 'utf8');
  return current === undefined ? text : withMutation(text, path, current);
}

/** Loads the theorems once more, about sources of which one is broken. */
export async function partsWith(mutation: Mutation): Promise<readonly Part[]> {
  current = mutation;
  try {
    const url = new URL('../theorems/index.ts', import.meta.url);
    url.searchParams.set('mutation', JSON.stringify(mutation));
    const { parts } = (await import(url.href)) as { readonly parts: readonly Part[] };
    return parts;
  } finally {
    current = undefined;
  }
}
