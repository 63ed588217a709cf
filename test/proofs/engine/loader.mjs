// `node --import ./test/proofs/engine/loader.mjs program.ts`: Node then runs TypeScript. Sources of the packages and
// theorems are rewritten so that they can run on unknown numbers. With `?mutation=…`, a theorem gets sources of its own, one
// of which is broken on purpose: engine/source.ts.
import { createHash } from 'node:crypto';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { register } from 'node:module';
import { fileURLToPath } from 'node:url';
import { isMainThread } from 'node:worker_threads';
import { withMutation } from './mutation.mjs';

if (isMainThread) register(import.meta.url);

const root = new URL('../../../', import.meta.url).href;
const engine = new URL('./', import.meta.url).href;
const cache = new URL('node_modules/.cache/sluice-proofs/', root);
const rewriter = readFile(new URL('./rewrite.mjs', import.meta.url), 'utf8');
/** Where sources are rewritten: those that ship, and what is said about them. */
const rewrittenIn = [`${root}packages/`, `${root}test/proofs/theorems/`, `${root}test/proofs/subjects/`];

/** What a rewritten source imports gets the same mutation. @type {import('node:module').ResolveHook} */
export async function resolve(specifier, context, nextResolve) {
  const resolved = await nextResolve(specifier, context);
  const { search } = new URL(context.parentURL ?? root);
  const isMutated = search !== '' && isRewritten(resolved.url) && !resolved.url.includes('?');
  return isMutated ? { ...resolved, url: resolved.url + search } : resolved;
}

/** @type {import('node:module').LoadHook} */
export async function load(url, context, nextLoad) {
  const [file = '', query] = url.split('?');
  if (!file.startsWith(root) || !file.endsWith('.ts') || file.includes('/node_modules/')) return nextLoad(url, context);
  const path = fileURLToPath(file);
  const text = mutated(await readFile(path, 'utf8'), file.slice(root.length), query);
  return { format: 'module', source: await compiled(text, path, isRewritten(file)), shortCircuit: true };
}

/** @param {string} url */
function isRewritten(url) {
  return rewrittenIn.some((folder) => url.startsWith(folder)) && !url.includes('/node_modules/');
}

/** Rewrites a source, or takes what an earlier run made of it. @param {string} text @param {string} path @param {boolean} whether */
async function compiled(text, path, whether) {
  const hash = createHash('sha256')
    .update(JSON.stringify([text, path, whether, await rewriter]))
    .digest('hex');
  const file = new URL(hash, cache);
  const known = await readFile(file, 'utf8').catch(() => undefined);
  if (known !== undefined) return known;
  const { rewritten, stripped } = await import('./rewrite.mjs');
  const source = whether ? rewritten(text, path, engine) : stripped(text, path);
  await mkdir(cache, { recursive: true });
  // Another process may be reading it.
  const unfinished = new URL(`${hash}.${process.pid}`, cache);
  await writeFile(unfinished, source);
  await rename(unfinished, file);
  return source;
}

/** @param {string} text @param {string} path from the root @param {string | undefined} query */
function mutated(text, path, query) {
  const mutation = new URLSearchParams(query).get('mutation');
  return mutation === null ? text : withMutation(text, path, JSON.parse(mutation));
}
