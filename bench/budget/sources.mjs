import { readdirSync, readFileSync } from 'node:fs';
import { SourceMap } from 'node:module';
import { fileURLToPath } from 'node:url';

/** A file that the build made: see scripts/build.mjs, which writes the source maps beside it. */
const BUILT = /^(.*\/(?:packages|tools)\/[^/]+\/dist\/)([^/]+\.js)$/;

/** @type {Map<string, Map<string, SourceMap>>} By the URL of a dist, and the name of a file in it. */
const maps = new Map();

/**
 * Finds in which file a function was written.
 *
 * @param {Pick<import('node:inspector').Runtime.CallFrame, 'url' | 'lineNumber' | 'columnNumber'>} frame
 * @returns {string} The URL of the source of a function of a built package, e.g. `…/packages/core/src/rule/rate.ts`, or
 *   that of the file that it was loaded from.
 */
export function sourceOf({ url, lineNumber, columnNumber }) {
  const [, dist, name] = BUILT.exec(url) ?? [];
  if (dist === undefined || name === undefined) return url;
  const entry = mapsOf(dist).get(name)?.findEntry(lineNumber, columnNumber);
  return entry !== undefined && 'originalSource' in entry ? new URL(entry.originalSource, url).href : url;
}

/** @param {string} dist */
function mapsOf(dist) {
  const known = maps.get(dist);
  if (known !== undefined) return known;
  const folder = fileURLToPath(new URL('.maps/', dist));
  const payloads = readdirSync(folder).map((name) => JSON.parse(readFileSync(folder + name, 'utf8')));
  const made = new Map(payloads.map((payload) => [payload.file, new SourceMap(payload)]));
  maps.set(dist, made);
  return made;
}
