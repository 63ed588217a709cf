import { createHash } from 'node:crypto';
import { IpAddress, type Key } from '@sluice/core';
import { fqdnSet } from '@sluice/domains';
import { describe, expect, test } from 'vitest';
import { thrown } from '../../../packages/core/test/support/thrown.ts';

const { format } = fqdnSet();
const idOf = (key: Key, request: unknown): unknown =>
  key.idOf!({ request, clientAddress: IpAddress.parse('203.0.113.7')! }, 'Orders');

// printf 'a.com,b.com' | sha256sum
const A_AND_B = 'd369b37f99877f3e838199244f127dcb3c8f2bdcfbb794241786cc9fc2a1a364';

describe('a set is the SHA-256 of its sorted names, joined by commas,', () => {
  test.each(['a.com,b.com', 'b.com,a.com', 'A.com,B.COM.', 'b.com,a.com,a.com', 'ａ。com,b.com'])('%s', (text) => {
    expect(format.canonical(text)).toBe(A_AND_B);
  });

  test('and names are sorted by bytes, whatever the language', () => {
    const names = ['bücher.de', 'a-b.com', 'a.com', 'a1.com', 'zebra.com'];
    const sorted = 'a-b.com,a.com,a1.com,xn--bcher-kva.de,zebra.com';
    expect(format.canonical(names.join(','))).toBe(createHash('sha256').update(sorted).digest('hex'));
  });

  test.each([['a.com'], ['a.com,b.com,c.com'], ['a.com,www.b.com'], ['ab.com'], ['a.comb.com']])(
    'and another set has another one: %s',
    (text) => expect(format.canonical(text)).not.toBe(A_AND_B),
  );
});

describe('an id in a file may be the hash that a decision reported,', () => {
  test.each([A_AND_B, A_AND_B.toUpperCase()])('%s', (hash) => expect(format.canonical(hash)).toBe(A_AND_B));

  test.each([`${A_AND_B}0`, `${A_AND_B.slice(1)}g`, `${A_AND_B},a.com`, `${A_AND_B}.`])(
    'and nothing that is like it: %s',
    (text) => expect(thrown(() => format.canonical(text)).code).toBe('ERR_ID'),
  );

  test('but a request is never taken at its word for one', () => {
    expect(
      thrown(() =>
        idOf(
          fqdnSet((names) => names as string),
          A_AND_B,
        ),
      ).code,
    ).toBe('ERR_ID');
  });
});

describe('the id of a request', () => {
  const key = fqdnSet((request) => (request as { names: string[] }).names.join(','));

  test('is that of the list that the function gives', () => {
    expect(idOf(key, { names: ['b.com', 'A.com'] })).toBe(A_AND_B);
  });

  test('does not apply when the function returns null', () =>
    expect(
      idOf(
        fqdnSet(() => null),
        {},
      ),
    ).toBeNull());

  test('may be returned by a promise', async () => {
    expect(
      await idOf(
        fqdnSet(async () => 'b.com,a.com'),
        {},
      ),
    ).toBe(A_AND_B);
  });
});

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

describe('with `addresses`, a set may have IP addresses,', () => {
  const set = fqdnSet((names) => names as string, { addresses: true });

  test.each([
    ['2001:db8:6000::1,192.0.2.9,example.com', 'example.com,192.0.2.9,2001:db8:6000::1'],
    ['192.0.2.9,2001:DB8:6000:0::1,EXAMPLE.com,192.0.2.9,2001:db8:6000::1', 'example.com,192.0.2.9,2001:db8:6000::1'],
    ['192.0.2.9', '192.0.2.9'],
    ['192.0.2.9,1.example', '1.example,192.0.2.9'],
  ])('which follow the names, each in its canonical spelling: %s', (text, sorted) => {
    expect(set.format.canonical(text)).toBe(sha256(sorted));
    expect(idOf(set, text)).toBe(sha256(sorted));
  });

  test('and no networks, and nothing that is like an address', () => {
    for (const text of ['192.0.2.0/24', '192.0.2', '192.0.2.256', '[2001:db8::1]']) {
      expect(thrown(() => set.format.canonical(text))).toMatchObject({ code: 'ERR_ID', status: 400 });
    }
  });

  test('which is an error without it', () => {
    expect(thrown(() => format.canonical('192.0.2.9,example.com')).code).toBe('ERR_ID');
  });
});

describe('with `wildcards`, a set may have names that begin with `*.`,', () => {
  const set = fqdnSet(undefined, { wildcards: true });

  test('which are other names than those without it', () => {
    expect(set.format.canonical('example.com,*.Example.COM.')).toBe(sha256('*.example.com,example.com'));
    expect(set.format.canonical('*.example.com')).not.toBe(set.format.canonical('example.com'));
  });

  test.each(['*', '*.', '*.*.example.com', 'www.*.example.com', '**.example.com'])('and not %s', (text) => {
    expect(thrown(() => set.format.canonical(text))).toMatchObject({ code: 'ERR_ID', status: 400 });
  });

  test('which is an error without it', () => {
    expect(thrown(() => format.canonical('*.example.com')).code).toBe('ERR_ID');
  });
});

const LIST = '`id` must be 1 to 100 domain names with commas between them, but was ';
const NAME = 'must be a domain name of at most 253 characters';

describe('no set is', () => {
  test.each([
    ['', 'nothing', '`id (name 1)` must be a domain name of at most 253 characters'],
    [',', 'a comma', `\`id (name 1)\` ${NAME}`],
    ['a.com,', 'a comma at the end', `\`id (name 2)\` ${NAME}`],
    ['a.com,,b.com', 'two commas', `\`id (name 2)\` ${NAME}`],
    ['a.com, b.com', 'a space', `\`id (name 2)\` ${NAME}`],
    ['a.com;b.com', 'a semicolon', `\`id (name 1)\` ${NAME}`],
    ['a.com,*.b.com', 'a wildcard', `\`id (name 2)\` ${NAME}`],
    ['a.com,a_b.com', 'an underscore', `\`id (name 2)\` ${NAME}`],
    ['a.com,203.0.113.7', 'an address', `\`id (name 2)\` ${NAME}`],
    [Array.from({ length: 101 }, () => 'a.com').join(','), '101 names', LIST],
    [','.repeat(1_000_000), 'a million commas', LIST],
    ['a'.repeat(1_000_000), 'a million letters', LIST],
  ])('%#: %s', (text, _, demand) => {
    const error = thrown(() => format.canonical(text));
    expect(error).toMatchObject({ code: 'ERR_ID', status: 400 });
    expect(error.message.startsWith(demand)).toBe(true);
    expect(error.message.length).toBeLessThan(500);
  });
});

describe('a value that is not a set is an error with a remedy that works:', () => {
  const names = (count: number) => Array.from({ length: count }, (_, i) => `${i}.com`).join(',');
  test.each<[what: string, text: string, maxNames: number, remedy: string]>([
    ['too many names', names(101), 100, 'To accept more names, up to 1000, use maxNames.'],
    ['more names than any set has', names(1001), 1000, 'Split them into several sets.'],
    ['too long a text', 'a'.repeat(1_000_000), 100, "Write only the names, for example 'example.com,example.org'."],
    ['an empty name', 'a.com,', 100, "It is empty: write a name such as 'example.com', or leave it out."],
    ['a space', 'a.com, b.com', 100, "Write the name alone, without spaces or semicolons: 'example.com'."],
    ['a semicolon', 'a.com;b.com', 100, "Write the name alone, without spaces or semicolons: 'example.com'."],
    ['a hyphen at the end', 'a-.com', 100, "Write a name such as 'example.com'."],
  ])('%s', (_, text, maxNames, remedy) => {
    const { message } = thrown(() => fqdnSet(undefined, { maxNames }).format.canonical(text));
    expect(message.endsWith(`. ${remedy}`)).toBe(true);
  });

  test('a larger maxNames accepts more names', () => {
    expect(fqdnSet(undefined, { maxNames: 101 }).format.canonical(names(101))).toMatch(/^[0-9a-f]{64}$/);
    expect(format.canonical('example.com,example.org')).toMatch(/^[0-9a-f]{64}$/);
  });
});

test('a set may have maxNames names', () => {
  const names = Array.from({ length: 1000 }, (_, index) => `${'a'.repeat(60)}.${index}.com`).join(',');
  expect(fqdnSet(undefined, { maxNames: 1000 }).format.canonical(names)).toMatch(/^[0-9a-f]{64}$/);
  expect(thrown(() => format.canonical(names)).code).toBe('ERR_ID');
  expect(thrown(() => fqdnSet(undefined, { maxNames: 1 }).format.canonical('a.com,a.com')).message).toMatch('1 to 1 ');
});

test('underscores are valid if the option allows them', () => {
  const { format: lenient } = fqdnSet(undefined, { underscores: true });
  expect(lenient.canonical('_dmarc.a.com')).toMatch(/^[0-9a-f]{64}$/);
});

test.each<[options: unknown, code: string, message: string]>([
  [
    { maxNames: 0 },
    'ERR_OPTION',
    '`fqdnSet.maxNames` must be a whole number from 1 to 1000, but was 0. For example maxNames: 50.',
  ],
  [
    { maxNames: 1001 },
    'ERR_OPTION',
    '`fqdnSet.maxNames` must be a whole number from 1 to 1000, but was 1001. For example maxNames: 50.',
  ],
  [
    { underscores: 0 },
    'ERR_OPTION',
    '`fqdnSet.underscores` must be true or false, but was 0. Write underscores: false, or leave it out.',
  ],
  [
    { names: 5 },
    'ERR_UNKNOWN_OPTION',
    '`fqdnSet` has no option `names` (its value was 5). Options: underscores, maxNames, addresses, wildcards.',
  ],
])('wrong options are rejected when the key is created: %o', (options, code, message) => {
  expect(thrown(() => fqdnSet(() => 'a.com', options as never))).toMatchObject({ code, message });
});
