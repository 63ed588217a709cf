import { describe, expect, test } from 'vitest';
import { pathKind, HOST } from '../src/spellings/text-kind.ts';

const PATH = pathKind(false);
const filled = (part: string, length: number): string => part.repeat(length).slice(0, length);
/** What makes an expression that is not linear slow: a run of one character, and something else at its end. */
const PARTS = ['/', '.', ' ', '-', ';', '%25', '\\', '//x', '/..', '%', 'é'];

describe('a text that is too long to be read', () => {
  test.each(PARTS)('is under all rules, and its bucket is that of all such paths: a path of %s', (part) => {
    const long = `/${filled(part, 200_000)}x/`;
    expect(PATH.spellings(long)).toEqual({ texts: [], areAll: false, rest: '' });
    expect(PATH.canonical(long)).toBe(PATH.canonical(`/${'a'.repeat(8192)}`));
  });

  test.each(PARTS)('is under all rules: a host of %s', (part) => {
    expect(HOST.spellings(`${filled(part, 200_000)}!`)).toEqual({ texts: [], areAll: false, rest: '' });
  });

  test('is not a path whose query alone is long', () => {
    const query = `?${filled('/', 60_000)}x/`;
    expect(PATH.spellings(`/orders${query}`)).toEqual({ texts: ['/orders'], areAll: true, rest: query });
  });
});

test('a path of 8 kB and a host of 1 kB are read', () => {
  expect(PATH.spellings(filled('/a', 8192)).areAll).toBe(true);
  expect(HOST.spellings(filled('a.', 1024)).areAll).toBe(true);
});

test.each([
  ['a-b.example', 'a-b.example'],
  ['a.example...', 'a.example'],
  ['1.example', '1.example'],
  ['example.1a', 'example.1a'],
  ['127.1', '127.0.0.1'],
  ['0x7f.0x', '127.0.0.0'],
  ['a..b', 'a..b'],
])('the host %s is %s', (text, host) => expect(HOST.canonical(text)).toBe(host));
