import { existsSync } from 'node:fs';

/**
 * The file that a parsing thread runs, for the file that this module is in: its source, or a file of the build. `undefined`
 * when it is missing or the module has no URL, as in the output of a bundler.
 */
export function parserProgram(moduleUrl: string | undefined): URL | undefined {
  // Node 20 can't run TypeScript. When this package runs from its sources, the thread therefore runs the build.
  const builtUrl = moduleUrl?.replace(/\/src\/sources\/[^/]+$/, '/dist/');
  if (!URL.canParse('./parse-worker.js', builtUrl)) return undefined;
  const program = new URL('./parse-worker.js', builtUrl);
  return existsSync(program) ? program : undefined;
}

/** The file that a parsing thread runs; `undefined` if it is missing. */
export const PARSER_PROGRAM: URL | undefined = parserProgram(import.meta.url);
