import { expect, test } from 'vitest';
import { METHOD, pathKind, TEXT } from '../src/spellings/text-kind.ts';
import { fits, patternForms } from '../src/spellings/text-pattern.ts';

/** All texts of these letters, up to a length. */
function textsOf(letters: readonly string[], length: number): readonly string[] {
  if (length === 0) return [''];
  const shorter = textsOf(letters, length - 1);
  return [...new Set(['', ...shorter.flatMap((text) => letters.map((letter) => letter + text))])];
}

test('each * of a pattern stands for any text, also for none, as a regular expression has it', () => {
  const texts = textsOf(['a', 'b'], 4);
  for (const pattern of textsOf(['a', 'b', '*'], 4).filter((each) => each.includes('*'))) {
    const expression = new RegExp(`^${pattern.replaceAll('*', '.*')}$`);
    const [form] = patternForms(TEXT, pattern);
    const wrong = texts.filter((text) => fits(text, form) !== expression.test(text));
    expect({ pattern, wrong }).toEqual({ pattern, wrong: [] });
  }
});

test('a pattern is compared by the spellings of its parts, and a * that it has in percent notation is a letter', () => {
  const path = pathKind(false);
  expect(patternForms(path, '/a*/b')).toEqual([['/a', '/b']]);
  expect(patternForms(path, '/a%2ab')).toEqual([['/a%2ab'], ['/a*b']]);
  expect(patternForms(path, '/%61*%2a')).toEqual([
    ['/%61', '%2a'],
    ['/a', '*'],
  ]);
  expect(patternForms(METHOD, 'p*t')).toEqual([['P', 'T']]);
});

test('a hostile text and a hostile pattern are compared in a moment', () => {
  const form = patternForms(TEXT, `${'*a'.repeat(5000)}*b`)[0];
  expect(fits('a'.repeat(65_536), form)).toBe(false);
  expect(fits(`${'a'.repeat(65_536)}b`, form)).toBe(true);
});
