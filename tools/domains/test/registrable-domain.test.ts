import { registrableDomain, type DomainNameOptions } from '@sluice/domains';
import { describe, expect, test } from 'vitest';
import { thrown } from '../../../packages/core/test/support/thrown.ts';

// By the test cases that the Public Suffix List publishes (tests/test_psl.txt), IDNA as A-labels.
describe('a name belongs to the domain of one label more than its public suffix:', () => {
  test.each([
    ['example.COM', 'example.com'],
    ['WwW.example.COM', 'example.com'],
    ['example.example', 'example.example'],
    ['b.example.example', 'example.example'],
    ['a.b.example.example', 'example.example'],
    ['domain.biz', 'domain.biz'],
    ['a.b.domain.biz', 'domain.biz'],
    ['example.uk.com', 'example.uk.com'],
    ['a.b.example.uk.com', 'example.uk.com'],
    ['test.ac', 'test.ac'],
    ['b.c.mm', 'b.c.mm'],
    ['a.b.c.mm', 'b.c.mm'],
    ['www.test.jp', 'test.jp'],
    ['www.test.ac.jp', 'test.ac.jp'],
    ['test.kyoto.jp', 'test.kyoto.jp'],
    ['b.ide.kyoto.jp', 'b.ide.kyoto.jp'],
    ['a.b.ide.kyoto.jp', 'b.ide.kyoto.jp'],
    ['b.c.kobe.jp', 'b.c.kobe.jp'],
    ['a.b.c.kobe.jp', 'b.c.kobe.jp'],
    ['city.kobe.jp', 'city.kobe.jp'],
    ['www.city.kobe.jp', 'city.kobe.jp'],
    ['b.test.ck', 'b.test.ck'],
    ['a.b.test.ck', 'b.test.ck'],
    ['www.ck', 'www.ck'],
    ['www.www.ck', 'www.ck'],
    ['www.test.us', 'test.us'],
    ['www.test.ak.us', 'test.ak.us'],
    ['www.test.k12.ak.us', 'test.k12.ak.us'],
    ['食狮.com.cn', 'xn--85x722f.com.cn'],
    ['食狮.公司.cn', 'xn--85x722f.xn--55qx5d.cn'],
    ['www.食狮.公司.cn', 'xn--85x722f.xn--55qx5d.cn'],
    ['shishi.公司.cn', 'shishi.xn--55qx5d.cn'],
    ['食狮.中国', 'xn--85x722f.xn--fiqs8s'],
    ['www.xn--85x722f.xn--fiqs8s', 'xn--85x722f.xn--fiqs8s'],
    // Its private part: whoever has a name there is another customer.
    ['a.b.github.io', 'b.github.io'],
    ['b.github.io', 'b.github.io'],
  ])('%s → %s', (name, expected) => expect(registrableDomain(name)).toBe(expected));
});

describe('a public suffix stays as it is:', () => {
  test.each([
    ['COM', 'com'],
    ['biz', 'biz'],
    ['uk.com', 'uk.com'],
    ['c.mm', 'c.mm'],
    ['ide.kyoto.jp', 'ide.kyoto.jp'],
    ['c.kobe.jp', 'c.kobe.jp'],
    ['test.ck', 'test.ck'],
    ['k12.ak.us', 'k12.ak.us'],
    ['公司.cn', 'xn--55qx5d.cn'],
    ['中国', 'xn--fiqs8s'],
    ['github.io', 'github.io'],
    ['ck', 'ck'],
  ])('%s → %s', (suffix, expected) => expect(registrableDomain(suffix)).toBe(expected));
});

describe('a single label that is not on the list has no registrable domain:', () => {
  test.each(['localhost', 'examplecom', 'EXAMPLE', 'internal', 'localhost.', 'ⅼocalhost', 'xn--bcher-kva'])(
    '%s',
    (text) => {
      const error = thrown(() => registrableDomain(text));
      expect(error).toMatchObject({ code: 'ERR_ID', status: 400 });
      expect(error.message).toMatch(/^`id` must be a name that has a registrable domain, but was /);
    },
  );

  test('the error names the remedy', () => {
    expect(thrown(() => registrableDomain('examplecom')).message).toBe(
      "`id` must be a name that has a registrable domain, but was 'examplecom'. A single label has none unless it is on the Public Suffix List. Write a name such as 'example.com'.",
    );
  });

  test('also with underscores', () => {
    expect(thrown(() => registrableDomain('_dmarc', { underscores: true })).code).toBe('ERR_ID');
  });

  test('below it a name has one', () => {
    expect(registrableDomain('a.b.localhost')).toBe('b.localhost');
  });
});

describe('every spelling of a name is one name:', () => {
  test.each([
    ['a dot at the end', 'example.com.'],
    ['ideographic, fullwidth and halfwidth dots', 'www。exa\u00admple．com｡'],
    ['fullwidth letters', 'ＥＸＡＭＰＬＥ.com'],
    ['superscript letters', 'exaᵐple.com'],
    ['characters that are not seen', 'exam\u200bple.com'],
  ])('%s', (_, name) => expect(registrableDomain(name)).toBe('example.com'));

  test.each([
    ['in composed and decomposed Unicode', 'b\u00fccher.de', 'bu\u0308cher.de'],
    ['in Unicode and in A-labels', 'BÜCHER.de', 'XN--Bcher-KVA.de'],
    ['with the sharp s, which is a letter of its own', 'faß.de', 'xn--fa-hia.de'],
    ['as an emoji', '💩.la', 'xn--ls8h.la'],
  ])('%s', (_, one, other) => {
    expect(registrableDomain(one)).toBe(registrableDomain(other));
    expect(registrableDomain(one)).toMatch(/^xn--/);
  });

  test('faß.de is not fass.de', () => expect(registrableDomain('fass.de')).toBe('fass.de'));
});

const longest = `${'a'.repeat(63)}.${'b'.repeat(63)}.${'c'.repeat(63)}.${'d'.repeat(57)}.com`;

test('labels of 63 characters and names of 253 are domain names, with hyphens anywhere inside', () => {
  expect(longest).toHaveLength(253);
  expect(registrableDomain(`${longest}.`)).toBe(`${'d'.repeat(57)}.com`);
  expect(registrableDomain('r3---sn-p5qlsnz6.googlevideo.com')).toBe('googlevideo.com');
  expect(registrableDomain('1.2.3.4.com')).toBe('4.com');
});

const DEMAND =
  '`id` must be a domain name of at most 253 characters: labels of 1 to 63 letters, digits and inner hyphens, but was ';

describe('no domain name is', () => {
  test.each([
    ['', 'nothing'],
    ['.', 'a dot'],
    ['.com', 'a dot at the start'],
    ['a..com', 'an empty label'],
    ['a.com..', 'two dots at the end'],
    ['\u00ad.com', 'a label of what is not seen'],
    ['a b.com', 'a space'],
    [' a.com', 'a space at the start'],
    ['a.com\n', 'a line feed at the end'],
    ['a\tb.com', 'a tab, which domainToASCII drops'],
    ['ä\tb.com', 'a tab in Unicode'],
    ['a\u0000.com', 'a NUL'],
    ['ä\u0085.com', 'a control of Latin-1'],
    ['a\u3000b.com', 'an ideographic space'],
    ['a%2ecom', 'a percent sign, which domainToASCII decodes'],
    ['ä%2ecom', 'a percent sign in Unicode'],
    ['ä％2ecom', 'a fullwidth percent sign'],
    ['a！b.com', 'a fullwidth exclamation mark'],
    ['ä，b.com', 'a fullwidth comma'],
    ['a!b.com', 'an exclamation mark'],
    ['{x}.com', 'braces'],
    ['a\\b.com', 'a backslash'],
    ['-a.com', 'a hyphen at the start of a label'],
    ['a-.com', 'a hyphen at the end of a label'],
    ['xn--abc-.com', 'an A-label that would say abc'],
    [`${'a'.repeat(64)}.com`, 'a label of 64'],
    [longest.replace('.com', 'd.com'), 'a name of 254'],
    [`${'ä'.repeat(60)}.com`, 'a label of more than 63 as an A-label'],
    ['a'.repeat(100_000), 'a hundred thousand characters'],
    ['ä'.repeat(1025), 'more than 1,024 characters'],
    ['\ud800.com', 'half a surrogate pair'],
  ])('%o: %s', (text) => {
    const error = thrown(() => registrableDomain(text));
    expect(error).toMatchObject({ code: 'ERR_ID', status: 400 });
    expect(error.message.startsWith(DEMAND)).toBe(true);
    expect(error.message.length).toBeLessThan(500);
  });

  const wildcard = "A wildcard is not a name. Write 'example.com' for '*.example.com'.";
  const alone = "Write only the name, without scheme, port, path or address: 'example.com'.";
  const number = 'It ends in a number. For addresses, use ipAddress().';
  test.each([
    ['*.example.com', wildcard],
    ['http://a.com', alone],
    ['a.com:443', alone],
    ['a.com/', alone],
    ['user@a.com', alone],
    ['a.com?b', alone],
    ['a.com#b', alone],
    ['[2001:db8::1]', alone],
    ['ä/.com', alone],
    ['203.0.113.7', number],
    ['１.２.３.４', number],
    ['0x7f.1', number],
    ['a.0xff', number],
    ['a.0x', number],
    ['a.7', number],
    ['256', number],
    ['_dmarc.example.com', 'To accept underscores, use underscores: true.'],
    ['_dmärc.example.com', 'To accept underscores, use underscores: true.'],
  ])('%s, and the error names the remedy', (text, remedy) => {
    const message = `${DEMAND}'${text}'. ${remedy}`;
    expect(thrown(() => registrableDomain(text))).toMatchObject({ code: 'ERR_ID', status: 400, message });
  });
});

describe('with underscores: true', () => {
  test.each([
    ['_dmarc.example.com', 'example.com'],
    ['a_b.com', 'a_b.com'],
    ['_.com', '_.com'],
    ['_dmärc.Example.com', 'example.com'],
  ])('%s is a name', (name, expected) => {
    expect(registrableDomain(name, { underscores: true })).toBe(expected);
  });

  test('other rules apply', () => {
    expect(thrown(() => registrableDomain('-_.com', { underscores: true })).code).toBe('ERR_ID');
  });

  test('false means what leaving it out means', () => {
    expect(thrown(() => registrableDomain('a_b.com', { underscores: false })).code).toBe('ERR_ID');
  });
});

test.each<[options: unknown, code: string, message: string]>([
  [
    { underscore: true },
    'ERR_UNKNOWN_OPTION',
    '`registrableDomain` has no option `underscore` (its value was true). Did you mean `underscores`? Options: underscores.',
  ],
  [
    { underscores: 1 },
    'ERR_OPTION',
    '`registrableDomain.underscores` must be true or false, but was 1. Write underscores: true, or leave it out.',
  ],
])('wrong options are rejected: %o', (options, code, message) => {
  expect(thrown(() => registrableDomain('a.com', options as DomainNameOptions))).toMatchObject({ code, message });
});
