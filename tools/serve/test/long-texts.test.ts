import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { workedMs } from '../../../test/worked-ms.ts';
import { bytesOf } from '../src/spellings/bytes.ts';
import { compatible } from '../src/spellings/path-steps.ts';
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

// Processor time grows by 64 where it is quadratic, and by 8 where it is linear.
test.each(['\u0300\u0316', '\uff9e\u0300', 'a\u0300\u0316', '\ufdfa', '%cc%80%cc%96', '\uff0f\uff0e'])(
  'a path of 8 kB takes time by its length: %j',
  (part) => {
    // Whole characters: a path that is not UTF-8 is not normalized.
    const bytes = bytesOf(part);
    const path = (length: number): string => `/${bytes.repeat(Math.floor(length / bytes.length))}`;
    const workedFor = (length: number, times: number): number => {
      const given = path(length);
      const before = workedMs();
      for (let i = 0; i < times; i++) {
        PATH.spellings(given);
        PATH.canonical(given);
      }
      return workedMs() - before;
    };
    const factor = (): number => workedFor(8184, 20) / workedFor(1020, 160);
    expect(Math.min(factor(), factor(), factor())).toBeLessThan(1.8);
  },
);

test('marks of which too many follow each other are normalized in parts, and all around them as ever', () => {
  const marks = '\u0300\u0316'.repeat(100);
  const { texts } = PATH.spellings(bytesOf(`/\uff41e\u0301${marks}\uff0f\uff42`));
  expect(texts.map((text) => Buffer.from(text, 'latin1').toString())).toContainEqual(
    expect.stringMatching(/^\/a\u00e9\p{M}{200}\/b$/u),
  );
});

test('a path that becomes longer than 8 kB has the bucket of all long paths', () => {
  expect(PATH.canonical(bytesOf(`/${'\ufdfa'.repeat(300)}`))).toBe(PATH.canonical(`/${'a'.repeat(8192)}`));
});

const CHARACTERS = Array.from(
  'ae/.;\u0300\u0316\u0338\u09c7\u09be\uff9e\uff9f\u304b\u3099\u1100\u1161\u11a8\uac00\uff41\ufb01\u0344\u{1d15e}',
);

test('marks of which few follow each other are normalized as all servers do it', () => {
  const texts = fc.array(fc.constantFrom(...CHARACTERS), { maxLength: 24 }).map((all) => all.join(''));
  const isNormalized = (text: string): boolean => compatible(bytesOf(text)) === bytesOf(text.normalize('NFKC'));
  expect(fc.check(fc.property(texts, isNormalized), { numRuns: 2000, seed: 54 })).toMatchObject({ failed: false });
});
