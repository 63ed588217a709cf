// With SLUICE_BENCH_BESIDE, a run and the servers that it starts use the packages of another clone, which is built.
// `processes.mjs` loads this file then. The programs, and all other libraries, are those of this clone.
import { register } from 'node:module';
import { isMainThread } from 'node:worker_threads';
import { pathToFileURL } from 'node:url';

const clone = process.env['SLUICE_BENCH_BESIDE'] ?? '';
const parentURL = pathToFileURL(`${clone}/bench/run.mjs`).href;

if (isMainThread) register(import.meta.url);

/** @type {import('node:module').ResolveHook} */
export async function resolve(specifier, context, nextResolve) {
  const isFromBench = context.parentURL?.includes('/bench/') === true && !context.parentURL.includes('node_modules');
  return nextResolve(specifier, isFromBench && specifier.startsWith('@sluice/') ? { ...context, parentURL } : context);
}
