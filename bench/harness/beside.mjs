// With SLUICE_BENCH_BESIDE, a run and the servers that it starts use the packages of another clone, which is built.
// `processes.mjs` loads this file then. The programs, and all other libraries, are those of this clone. What a package of
// this clone exports, but the other clone does not have, throws when it is called.
import { register } from 'node:module';
import { isMainThread } from 'node:worker_threads';
import { pathToFileURL } from 'node:url';

const clone = process.env['SLUICE_BENCH_BESIDE'] ?? '';
const there = pathToFileURL(`${clone}/bench/run.mjs`).href;
const here = new URL('..', import.meta.url).href;
const ABSENT = '?absent=';
const NOT_THERE = ['ERR_MODULE_NOT_FOUND', 'ERR_PACKAGE_PATH_NOT_EXPORTED'];

if (isMainThread) register(import.meta.url);

/** @type {import('node:module').ResolveHook} */
export async function resolve(specifier, context, nextResolve) {
  const { parentURL } = context;
  const isFromBench = parentURL?.startsWith(here) === true && !parentURL.includes('node_modules');
  if (!isFromBench || !specifier.startsWith('@sluice/')) return nextResolve(specifier, context);
  try {
    return await nextResolve(specifier, { ...context, parentURL: there });
  } catch (error) {
    if (!NOT_THERE.includes(/** @type {NodeJS.ErrnoException} */ (error).code ?? '')) throw error;
    const { url } = await nextResolve(specifier, { ...context, parentURL });
    return { url: `${url}${ABSENT}${specifier}`, format: 'module', shortCircuit: true };
  }
}

/** @type {import('node:module').LoadHook} */
export async function load(url, context, nextLoad) {
  const [own = '', specifier] = url.split(ABSENT);
  if (specifier === undefined) return nextLoad(url, context);
  const source = Object.keys(await import(own)).map(
    (name) => `export function ${name}() { throw new Error('It has no ${specifier}.'); }`,
  );
  return { format: 'module', source: source.join('\n'), shortCircuit: true };
}
