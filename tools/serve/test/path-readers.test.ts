import fc from 'fast-check';
import { posix, win32 } from 'node:path';
import { parse as parseQuery, unescape } from 'node:querystring';
import { expect, test } from 'vitest';
import { pathKind } from '../src/spellings/text-kind.ts';
import { PathPatterns } from '../src/tables/path-patterns.ts';
import { sized } from '../../../test/sized.ts';

const RUNS = sized(1000, 3000);

type Reader = (path: string) => string;

/** What there is in Node to read paths with, alone and in the usual combinations. */
const READERS: Readonly<Record<string, Reader>> = {
  itself: (path) => path,
  'new URL': (path) => new URL(path, 'http://localhost').pathname,
  'new URL of a concatenation': (path) => new URL(`http://localhost${path}`).pathname,
  decodeURIComponent: (path) => decodeURIComponent(path),
  decodeURI: (path) => decodeURI(path),
  unescape: (path) => unescape(path),
  'querystring.parse': (path) => String(Object.keys(parseQuery(path.replaceAll('&', '').replaceAll('=', '')))[0]),
  'posix.normalize': (path) => posix.normalize(path),
  'posix.resolve': (path) => posix.resolve('/', path),
  'win32.normalize': (path) => win32.normalize(path).replaceAll('\\', '/'),
  'without a slash at the end': (path) => path.replace(/\/+$/, ''),
};

const PARTS =
  '/ / / // . .. ./ ../ ; # %25 %2f %5c %2e %2e%2e %2e%2e/ %2E. %00 %20 %3f %23 %ff %c3%a9 \\ a x // /// ..; search search shoes login %73earch lo%67in @h : http: //h'.split(
    ' ',
  );
const hostile = fc
  .array(fc.constantFrom(...PARTS), { minLength: 1, maxLength: 10 })
  .map((parts) => `/${parts.join('')}`);
const chains = fc.array(fc.constantFrom(...Object.keys(READERS)), { minLength: 1, maxLength: 3 });

const PATTERNS = new PathPatterns(['/search/*', '/login'], pathKind(false));

function isLimited(path: string): boolean {
  return path === '/login' || path.startsWith('/search/');
}

/** Runs a check on hostile paths and on what a chain of readers makes of each, and returns how often there was something to check. */
function checked(check: (path: string, understood: string) => 'right' | 'wrong' | 'nothing'): number {
  let count = 0;
  const isRight = (path: string, chain: readonly string[]): boolean => {
    const understood = attempted(() => chain.reduce((text, name) => READERS[name]!(text), path));
    const outcome = understood === undefined ? 'nothing' : check(path, understood);
    if (outcome === 'right') count++;
    return outcome !== 'wrong';
  };
  const outcome = fc.check(fc.property(hostile, chains, isRight), { numRuns: RUNS, seed: 40 });
  expect(outcome).toMatchObject({ failed: false, counterexample: null });
  return count;
}

test('whatever the parsers of Node make of a path, alone or one after the other, is under its limit', () => {
  const count = checked((path, understood) => {
    if (!isLimited(understood)) return 'nothing';
    return PATTERNS.matchAny(pathKind(false).spellings(path)) ? 'right' : 'wrong';
  });
  expect(count).toBeGreaterThan(RUNS / 100);
});

test('a path is exempted only if the parsers of Node make a path of it that is', () => {
  const count = checked((path, understood) => {
    if (!PATTERNS.matchAll(pathKind(false).spellings(path))) return 'nothing';
    // A slash at the end of an exact path does not count.
    return isLimited(understood) || isLimited(understood.replace(/\/+$/, '')) ? 'right' : 'wrong';
  });
  expect(count).toBeGreaterThan(RUNS / 1000);
});

function attempted(read: () => string): string | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
