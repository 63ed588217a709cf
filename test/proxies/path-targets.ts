import { randomFrom } from '../service/random.ts';

/** What the limited handlers are asked for. */
const ROUTES = ['/search/shoes', '/files/a/b', '/login'] as const;

type Change = (path: string) => string;

const at = (path: string): number => path.indexOf('/', 1);

/** How the letters of a path may be written. */
const LETTERS: readonly Change[] = [
  (path) => path,
  (path) => path.replace(/[a-z]/, (letter) => `%${letter.charCodeAt(0).toString(16)}`),
  (path) => path.replace(/[a-z]/, (letter) => `%25${letter.charCodeAt(0).toString(16)}`),
  (path) => path.replaceAll(/[a-z]/g, (letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`),
  (path) => path.toUpperCase(),
  (path) => path.replace(/[a-z]/, (letter) => `%c1%${(letter.charCodeAt(0) | 0x80).toString(16)}`),
  (path) => path.replace(/[a-z]/, (letter) => `%u00${letter.charCodeAt(0).toString(16)}`),
  (path) => path.replace(/[a-z]/, (letter) => encodeURI(String.fromCodePoint(letter.charCodeAt(0) + 0xfee0))),
];

/** What may be written before a path. */
const BEFORE: readonly Change[] = [
  (path) => path,
  ...[
    '/',
    '//',
    '/.',
    '/x/..',
    '/x/%2e%2e',
    '/x/.%2E',
    '/x/..%2f..',
    '/x/..;y',
    '/;y',
    '/..',
    '/x//..',
    '/%2e',
    '//x',
    '/x/y/../..',
  ].map((before) => (path: string) => before + path),
  (path) => `/x/..%2f${path.slice(1)}`,
  (path) => `/x/..%5c${path.slice(1)}`,
  (path) => `/x/..\\${path.slice(1)}`,
  (path) => `/\\${path.slice(1)}`,
  (path) => `http://a.example${path}`,
  (path) => `HTTP://a.example:80${path}`,
];

/** What may be written inside of a path, or after it. */
const AFTER: readonly Change[] = [
  (path) => path,
  ...[
    '/',
    '//',
    '/.',
    '/..',
    '/../..',
    '/../../zz',
    '?x=1',
    '?',
    '#x',
    ';x=1',
    ';',
    '%00',
    '%00x',
    '%20',
    '.',
    '%2e',
    '%2f',
    '%3fx',
    '%23x',
    '%ff',
    '%',
    '/%c0%af..',
    '\xff',
  ].map((after) => (path: string) => path + after),
  (path) => (at(path) === -1 ? path : `${path.slice(0, at(path))}/..%2f${path.slice(at(path) + 1)}`),
  (path) => (at(path) === -1 ? path : `${path.slice(0, at(path))}/%2e%2e%2f${path.slice(at(path) + 1)}`),
  (path) => (at(path) === -1 ? path : `${path.slice(0, at(path))}/${path.slice(at(path))}`),
  (path) => (at(path) === -1 ? path : `${path.slice(0, at(path))}/.${path.slice(at(path))}`),
  (path) => (at(path) === -1 ? path : `${path.slice(0, at(path))};x${path.slice(at(path))}`),
  (path) => (at(path) === -1 ? path : `${path.slice(0, at(path))}%2f${path.slice(at(path) + 1)}`),
  (path) => (at(path) === -1 ? path : `${path.slice(0, at(path))}\\${path.slice(at(path) + 1)}`),
];

/**
 * Request targets that servers may understand as one of the routes: each single change, and some of several changes, the
 * same in each run.
 */
export function pathTargets(severalChanges: number): readonly string[] {
  const single = ROUTES.flatMap((route) =>
    [LETTERS, BEFORE, AFTER].flatMap((changes) => changes.map((change) => change(route))),
  );
  const random = randomFrom(40);
  const several = Array.from({ length: severalChanges }, () => {
    const changed = random.oneOf(AFTER)(random.oneOf(LETTERS)(random.oneOf(ROUTES)));
    return random.oneOf(BEFORE)(changed);
  });
  return [...new Set([...single, ...several])];
}
