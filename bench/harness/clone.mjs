import { pathToFileURL } from 'node:url';

const own = new URL('../../', import.meta.url);
const { SLUICE_BENCH_BESIDE: beside } = process.env;
const root = beside === undefined ? own : pathToFileURL(`${beside}/`);

/**
 * A file of the clone that this run measures.
 *
 * @param {string} path
 */
export function ofClone(path) {
  return new URL(path, root);
}
