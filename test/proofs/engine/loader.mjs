// `node --import ./test/proofs/engine/loader.mjs program.ts`: Node then runs TypeScript. Sources of the packages and
// theorems are rewritten so that they can run on unknown numbers. SLUICE_MUTANT breaks a source on purpose: JSON with the
// path from the root of the repository, a text that occurs in it once, and what replaces it.
import { createHash } from 'node:crypto';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { register } from 'node:module';
import { fileURLToPath } from 'node:url';
import { isMainThread } from 'node:worker_threads';

if (isMainThread) register(import.meta.url);

const root = new URL('../../../', import.meta.url).href;
const engine = new URL('./', import.meta.url).href;
const cache = new URL('node_modules/.cache/sluice-proofs/', root);
const rewriter = readFile(new URL('./rewrite.mjs', import.meta.url), 'utf8');
/** Where sources are rewritten: those that ship, and what is said about them. */
const rewrittenIn = [`${root}packages/`, `${root}test/proofs/theorems/`, `${root}test/proofs/subjects/`];

/** @type {import('node:module').LoadHook} */
export async function load(url, context, nextLoad) {
  if (!url.startsWith(root) || !url.endsWith('.ts') || url.includes('/node_modules/')) return nextLoad(url, context);
  const path = fileURLToPath(url);
  const text = mutated(await readFile(path, 'utf8'), url.slice(root.length));
  const isRewritten = rewrittenIn.some((folder) => url.startsWith(folder));
  return { format: 'module', source: await compiled(text, path, isRewritten), shortCircuit: true };
}

/** Rewrites a source, or takes what an earlier run made of it. @param {string} text @param {string} path @param {boolean} isRewritten */
async function compiled(text, path, isRewritten) {
  const hash = createHash('sha256')
    .update(JSON.stringify([text, path, isRewritten, await rewriter]))
    .digest('hex');
  const file = new URL(hash, cache);
  const known = await readFile(file, 'utf8').catch(() => undefined);
  if (known !== undefined) return known;
  const { rewritten, stripped } = await import('./rewrite.mjs');
  const source = isRewritten ? rewritten(text, path, engine) : stripped(text, path);
  await mkdir(cache, { recursive: true });
  // Another process may be reading it.
  const unfinished = new URL(`${hash}.${process.pid}`, cache);
  await writeFile(unfinished, source);
  await rename(unfinished, file);
  return source;
}

/** @param {string} text @param {string} path from the root */
function mutated(text, path) {
  const { SLUICE_MUTANT } = process.env;
  if (SLUICE_MUTANT === undefined) return text;
  /** @type {{ in: string, replace: string, by: string }} */
  const mutant = JSON.parse(SLUICE_MUTANT);
  if (mutant.in !== path) return text;
  const parts = text.split(mutant.replace);
  if (parts.length !== 2) throw new Error(`${path} has the text of a mutant ${parts.length - 1} times instead of once`);
  return parts.join(mutant.by);
}
