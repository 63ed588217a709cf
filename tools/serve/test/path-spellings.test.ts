import fc from 'fast-check';
import { expect, test } from 'vitest';
import { canonicalPath } from '../src/spellings/canonical-path.ts';
import { pathSpellings } from '../src/spellings/path-spellings.ts';
import { PATH_STEPS } from '../src/spellings/path-steps.ts';
import { pathKind } from '../src/spellings/text-kind.ts';
import { PathPatterns } from '../src/tables/path-patterns.ts';

const bytes = (text: string): string => Buffer.from(text).toString('latin1');
const patterns = (texts: readonly string[], isCaseInsensitive = false) =>
  new PathPatterns(texts, pathKind(isCaseInsensitive));
const spellings = (target: string, isCaseInsensitive = false) => pathKind(isCaseInsensitive).spellings(bytes(target));

/** What hostile paths are made of. */
const PARTS =
  '/ // . .. ; ;x=1 ? # % %25 %2f %5c %2e %2e%2e %00 %20 %ff %c0%af %e0%80%af %u002f \\ \xff a search shoes é %c3%a9 ／ http: //h'.split(
    ' ',
  );
const hostile = fc.array(fc.constantFrom(...PARTS), { maxLength: 12 }).map((parts) => bytes(`/${parts.join('')}`));
const chains = fc.array(fc.constantFrom(...PATH_STEPS), { maxLength: 6 });
const runs = { numRuns: 500, seed: 40 };

test('a limit applies to whatever a server makes of a path, by any of the steps in any order', () => {
  const isFound = (path: string, chain: readonly ((path: string) => string)[]): boolean => {
    const [start = ''] = path.split('?', 1);
    const understood = chain.reduce((text, step) => step(text), start);
    const { texts, areAll } = pathSpellings(path);
    return !areAll || texts.includes(understood);
  };
  expect(fc.check(fc.property(hostile, chains, isFound), runs)).toMatchObject({ failed: false });
});

test('the number and the length of the spellings are bounded', () => {
  const longest = fc
    .array(fc.constantFrom(...PARTS), { minLength: 50, maxLength: 2000 })
    .map((parts) => bytes(parts.join('')));
  const isBounded = (path: string): void => {
    const { texts } = pathSpellings(path);
    expect(texts.length).toBeLessThanOrEqual(64);
    expect(texts.slice(1).reduce((sum, text) => sum + text.length, 0)).toBeLessThanOrEqual(16_384);
  };
  fc.assert(fc.property(longest, isBounded), { numRuns: 100, seed: 40 });
});

test('all paths of more than 8 KiB have one id, so that a client can not choose a bucket by their beginnings', () => {
  const long = (start: string): string => `${start}${'/.'.repeat(5000)}/../login`;
  for (const kind of [pathKind(false), pathKind(true)]) {
    expect(new Set(['/a', '/b', '/c%2f'].map((start) => kind.canonical(long(start)))).size).toBe(1);
    expect(kind.canonical(`/a?${'b'.repeat(9000)}`)).toBe('/a');
  }
});

test('what has too many spellings is under every limit, and under no exemption', () => {
  const many = spellings(`/%${'25'.repeat(200)}41`);
  expect(many.areAll).toBe(false);
  expect([patterns(['/login']).matchAny(many), patterns(['/*']).matchAll(many)]).toEqual([true, false]);
});

test.each([
  ['/', 1],
  ['/orders/12?next=%2F%2Fa/../b', 1],
  ['/.well-known/acme-challenge/a.b', 1],
  ['/caf%C3%A9/cr%C3%A8me%20br%C3%BBl%C3%A9e.html', 2],
  ['/wiki/Foo_(bar)%2FBaz', 2],
  ['/@scope%2fname', 2],
  ['/a;jsessionid=123/b', 3],
  ['/proxy/https://example.com/a/b', 2],
])('the usual path %s has %d spellings', (path, count) => {
  expect(spellings(path)).toMatchObject({ texts: { length: count }, areAll: true });
});

/** Paths with a pattern under whose limit they are, but under whose exemption they are not. */
const AMBIGUOUS = [
  ['/search/*', '/search/..%2fshoes'],
  ['/search/*', '/search/a/../../zz'],
  ['/search/*', '/x/../search/a'],
  ['/search/*', '/x/%2e%2e/search/..%2fa'],
  ['/search/*', '/x/..%5csearch/..%2fa'],
  ['/search/*', '/x/..;a/search/b'],
  ['/search/*', '//host/search/a'],
  ['/search/*', '/\\host/search/a'],
  ['/search/*', '//search//a'],
  ['/search/*', '/%73earch/%ff'],
  ['/search/*', '/sea\ufffdrch/a'],
  ['/search/*', '/x/..%20/search/a'],
  ['/search/*', '/s%c1%a5arch/%ff'],
  ['/search/*', '/%2573earch/a'],
  ['/search/*', '/%u0073earch/a'],
  ['/search/*', '/%ef%bd%93earch/a'],
  ['/search/*', 'http://a.example/search/a'],
  ['/search/*', 'search/a'],
  ['/search/*', '/sea\u0001rch/a'],
  ['/orders/*', '/orders/..'],
  ['/login', '/login/.'],
  ['/login', '/login%00.txt'],
  ['/login', '/login;a=b'],
  ['/login', '/login;a/b'],
  ['/login', '/login%3fa'],
  ['/login', '/login#a'],
  ['/login', '/login%20'],
  ['/login', '/login.'],
  ['/login', '/login%2f'],
  ['/login', '/login%c0%af'],
  ['/login', '/log\u0000in/../login'],
] as const;

test.each(AMBIGUOUS)('%s limits %s, and does not exempt it', (pattern, path) => {
  expect(patterns([pattern]).matchAny(spellings(path))).toBe(true);
  expect(patterns([pattern]).matchAll(spellings(path))).toBe(false);
});

test.each([
  ['/search/*', '/search/a%20b'],
  ['/search/*', '/search/a?b=/../..'],
  ['/login', '/login/'],
  ['/login', '/login//'],
  ['/login', '/login?a'],
  ['/login/', '/login'],
  ['/café/*', '/caf%C3%A9/a'],
  ['/caf%C3%A9', '/caf%c3%a9'],
  ['/café', '/cafe%cc%81'],
])('%s limits %s', (pattern, path) => {
  expect(patterns([pattern]).matchAny(spellings(path))).toBe(true);
});

test.each([
  ['/search/*', '/search'],
  ['/search/*', '/searchx'],
  ['/search/*', '/x/search/a'],
  ['/search/*', '/x?/search/a'],
  ['/search/*', '/SEARCH/a'],
  ['/login', '/loginx'],
  ['/login', '/login/a'],
  ['/login', '/login.css'],
  ['/login', '/static/%6cogin'],
])('%s neither limits nor exempts %s', (pattern, path) => {
  expect(patterns([pattern]).matchAny(spellings(path))).toBe(false);
  expect(patterns([pattern]).matchAll(spellings(path))).toBe(false);
});

test('case does not count for a backend that ignores it, in any alphabet', () => {
  for (const [pattern, path] of [
    ['/Search/*', '/SEARCH/a'],
    ['/grün', '/GR%C3%9CN'],
    ['/kilo', '/%E2%84%AAilo'],
  ] as const) {
    expect(patterns([pattern], true).matchAny(spellings(path, true))).toBe(true);
    expect(patterns([pattern]).matchAny(spellings(path))).toBe(false);
  }
  expect(patterns(['/static/*'], true).matchAll(spellings('/STATIC/a', true))).toBe(true);
});

test('each of several patterns may exempt some of the spellings', () => {
  const path = spellings('/static/..%2fimages/a');
  expect(patterns(['/static/*']).matchAll(path)).toBe(false);
  expect(patterns(['/static/*', '/images/*']).matchAll(path)).toBe(true);
});

test('the canonical path is the same for all spellings of a plain path', () => {
  const others = [
    '/orders/',
    '//orders',
    '/%6frders',
    '/a/../orders',
    '/orders?x',
    '/orders#x',
    '/orders;x',
    '/%256frders',
  ];
  for (const path of [
    ...others,
    '/orders%00',
    'http://a/orders',
    '/./orders/.',
    '/a\\..\\orders',
    '/orders%20',
    '/orders%3fx',
  ]) {
    expect([path, canonicalPath(bytes(path))]).toEqual([path, '/orders']);
  }
  const isFixed = (path: string): void => {
    const canonical = canonicalPath(path);
    expect(canonicalPath(canonical)).toBe(canonical);
  };
  fc.assert(fc.property(hostile, isFixed), runs);
});
