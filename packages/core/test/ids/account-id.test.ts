import { accountId } from '@sluice/core';
import { describe, expect, test } from 'vitest';
import { thrown } from '../support/thrown.ts';

const canonical = (text: string, options?: Parameters<typeof accountId>[1]): string =>
  accountId(undefined, options).format.canonical(text);

describe('an account id is kept as it is given', () => {
  test.each([
    ['12345678'],
    ['0'],
    ['a'],
    ['alice@example.com'],
    ['with space'],
    [' '],
    ['[object Object]'],
    ['Ünïcödé'],
    ['账户'],
    ['😀'],
    ['x'.repeat(256)],
    ['ä'.repeat(256)],
    ['😀'.repeat(128)],
  ])('%o', (text) => expect(canonical(text)).toBe(text));

  test('and never normalised: two accounts could become one', () => {
    const [composed, decomposed] = ['\u00e9', 'e\u0301'];
    expect([canonical(composed), canonical(decomposed)]).toEqual([composed, decomposed]);
    expect(canonical('ALICE')).toBe('ALICE');
  });
});

describe('no account id is', () => {
  test.each([
    ['', 'nothing'],
    ['x'.repeat(257), 'more than 256 characters'],
    ['ä'.repeat(257), 'more than 256 characters of Unicode'],
    [`${'😀'.repeat(128)}x`, 'more than 256 UTF-16 code units'],
    ['a\nb', 'a line feed'],
    ['a\n', 'a line feed at the end'],
    ['a\u0000', 'a NUL'],
    ['a\u007f', 'a DEL'],
    ['a\u0085ä', 'a control character of Latin-1'],
    ['\ud800', 'half a surrogate pair'],
    ['ä\udc00', 'the other half'],
  ])('%o: %s', (text) => {
    const error = thrown(() => canonical(text));
    expect(error).toMatchObject({ code: 'ERR_ID', status: 400 });
    expect(error.message).toMatch(
      /^`id` must be 1 to 256 characters of well-formed Unicode without control characters, but was /,
    );
  });
});

describe('with decimal: true', () => {
  test.each(['0', '1', '12345678', '9'.repeat(256)])('%s is an id', (text) => {
    expect(canonical(text, { decimal: true })).toBe(text);
  });

  test.each(['', '-1', '+1', '007', '00', '1.0', '1e3', '0x1f', ' 1', '1\n', 'alice', '١', '9'.repeat(257)])(
    '%o is not valid',
    (text) => {
      const error = thrown(() => canonical(text, { decimal: true }));
      expect(error).toMatchObject({ code: 'ERR_ID', status: 400 });
      expect(error.message).toMatch(
        /^`id` must be an unsigned decimal number of at most 256 digits, without leading zeros, but was /,
      );
    },
  );

  test('false means what leaving it out means', () => expect(canonical('007', { decimal: false })).toBe('007'));
});

describe('wrong options are rejected when the key is created:', () => {
  test.each<[options: unknown, code: string, message: string]>([
    [
      { decmial: true },
      'ERR_UNKNOWN_OPTION',
      '`accountId` has no option `decmial` (its value was true). Did you mean `decimal`? Options: decimal.',
    ],
    [
      { decimal: 'yes' },
      'ERR_OPTION',
      "`accountId.decimal` must be true or false, but was 'yes'. Write decimal: true, or leave it out.",
    ],
    [true, 'ERR_OPTION', '`accountId` must be an object, but was true. Options: decimal.'],
  ])('%o', (options, code, message) => {
    expect(thrown(() => accountId(() => '7', options as never))).toMatchObject({ code, message });
  });
});

test('the error for an empty id names what to return instead', () => {
  expect(thrown(() => canonical('')).message).toContain('return null in the function of the key.');
});
