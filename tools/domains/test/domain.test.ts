import { clientNetwork, createLimiter, IpAddress, type Key } from '@sluice/core';
import { domain } from '@sluice/domains';
import { describe, expect, test } from 'vitest';
import { thrown } from '../../../packages/core/test/support/thrown.ts';

const idOf = (key: Key, request: unknown): unknown =>
  key.idOf!({ request, clientAddress: IpAddress.parse('203.0.113.7')! }, 'Orders');

describe('with `addresses`, the id of an address', () => {
  const key = domain((name) => name as string, { addresses: true });

  test.each([
    ['192.0.2.9', '192.0.2.9'],
    ['::ffff:192.0.2.9', '192.0.2.9'],
    ['2001:DB8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['www.example.com', 'example.com'],
  ])('is itself, or its /64: %s → %s', (text, id) => expect(idOf(key, text)).toBe(id));

  test.each([
    ['192.0.2.9', '192.0.2.9'],
    ['2001:db8:1:2::', '2001:db8:1:2::/64'],
    ['2001:db8:1:2::/64', '2001:db8:1:2::/64'],
    ['example.com', 'example.com'],
  ])('is written as such: %s → %s', (text, id) => expect(key.format.canonical(text)).toBe(id));

  test('is written exactly, because it applies to all of the network', () => {
    expect(thrown(() => key.format.canonical('2001:db8:1:2::1'))).toMatchObject({
      code: 'ERR_ID',
      message: expect.stringContaining("Write '2001:db8:1:2::/64', the network that it belongs to.") as string,
    });
    for (const text of ['2001:db8::/48', '192.0.2.0/24', 'www.example.com', '192.0.2']) {
      expect(thrown(() => key.format.canonical(text)).code).toBe('ERR_ID');
    }
  });

  test('is an error without it', () => {
    for (const text of ['192.0.2.9', '2001:db8:1:2::']) {
      expect(thrown(() => domain().format.canonical(text)).code).toBe('ERR_ID');
    }
  });
});

describe('the id of a request is the registered domain of the name that the function gives:', () => {
  const key = domain((name) => name as string);
  test.each([
    ['example.com', 'example.com'],
    ['www.Example.COM.', 'example.com'],
    ['www.食狮.公司.cn', 'xn--85x722f.xn--55qx5d.cn'],
    ['github.io', 'github.io'],
  ])('%s → %s', (name, expected) => expect(idOf(key, name)).toBe(expected));

  test.each(['examplecom', 'localhost'])(
    'a request for %s has no domain: it is rejected, and never gets a bucket',
    (name) => {
      expect(thrown(() => idOf(key, name))).toMatchObject({ code: 'ERR_ID', status: 400 });
      expect(thrown(() => idOf(key.or(clientNetwork()), name))).toMatchObject({ code: 'ERR_ID', status: 400 });
    },
  );

  test('also through a promise', async () => {
    expect(
      await idOf(
        domain(async (name) => `www.${String(name)}`),
        'example.com',
      ),
    ).toBe('example.com');
  });

  test('null means that the limit does not apply', () =>
    expect(
      idOf(
        domain(() => null),
        'x',
      ),
    ).toBeNull());

  test('a value that is not text is an error, so that unrelated clients never share a bucket', () => {
    expect(
      thrown(() =>
        idOf(
          domain(() => undefined as never),
          'x',
        ),
      ).code,
    ).toBe('ERR_KEY');
    expect(
      thrown(() =>
        idOf(
          domain(() => ''),
          'x',
        ),
      ).code,
    ).toBe('ERR_ID');
    expect(
      thrown(() =>
        idOf(
          domain(() => 7),
          'x',
        ),
      ).code,
    ).toBe('ERR_ID');
  });
});

describe('an id that is written', () => {
  const { format } = domain();
  test.each([
    ['Example.com.', 'example.com'],
    ['食狮.公司.cn', 'xn--85x722f.xn--55qx5d.cn'],
    ['co.uk', 'co.uk'],
    ['github.io', 'github.io'],
  ])('is a registered domain or a public suffix, in any spelling: %s', (text, expected) => {
    expect(format.canonical(text)).toBe(expected);
  });

  test('is never a name below a registrable domain, because it would apply to more than it names', () => {
    expect(thrown(() => format.canonical('WWW.example.com'))).toMatchObject({
      code: 'ERR_ID',
      status: 400,
      message:
        "`id` must be a registered domain: one label more than its public suffix, or the suffix itself, but was 'WWW.example.com'. Write 'example.com', the registered domain that it belongs to.",
    });
  });

  test.each(['examplecom', 'localhost'])('is never a single label that is not on the list: %s', (text) => {
    expect(thrown(() => format.canonical(text))).toMatchObject({ code: 'ERR_ID', status: 400 });
  });

  test('is an error when it is not a name', () => {
    expect(thrown(() => format.canonical('*.example.com'))).toMatchObject({ code: 'ERR_ID', status: 400 });
  });
});

describe('in a limiter', () => {
  const numbers = { count: 2, period: '1h' };

  test('two spellings of an override are a duplicate, and a name below a domain is not valid', () => {
    const limiterWith = (ids: readonly string[]): unknown =>
      createLimiter({
        limits: { Certificates: { key: domain(), ...numbers } },
        overrides: { Certificates: Object.fromEntries(ids.map((id) => [id, { count: 5, period: '1h' }])) },
      });
    expect(thrown(() => limiterWith(['bücher.de', 'xn--bcher-kva.de'])).message).toMatch(/twice/);
    expect(thrown(() => limiterWith(['www.example.com'])).message).toMatch(/Write 'example.com'/);
    expect(thrown(() => limiterWith(['examplecom'])).message).toBe(
      "`overrides.Certificates` lists the id 'examplecom': `id` must be a name that has a registrable domain, but was 'examplecom'. A single label has none unless it is on the Public Suffix List. Write a name such as 'example.com'.",
    );
    expect(() => limiterWith(['example.com', 'example.org'])).not.toThrow();
  });

  test('names of one domain spend from one bucket, names of two from two', async () => {
    const limiter = createLimiter({ limits: { Certificates: { key: domain(), ...numbers } } });
    const spend = async (id: string): Promise<boolean> =>
      (await limiter.spend([{ limit: 'Certificates', id }])).allowed;
    expect([await spend('Example.com'), await spend('example.com.'), await spend('example.com')]).toEqual([
      true,
      true,
      false,
    ]);
    expect(await spend('example.org')).toBe(true);
  });

  test('falls back to another key when there is no name', () => {
    const key = domain((name) => (name === '' ? null : (name as string))).or(clientNetwork());
    expect(idOf(key, 'www.example.com')).toBe('example.com');
    expect(idOf(key, '')).toBe('clientNetwork:203.0.113.7');
    expect(thrown(() => key.format.canonical('www.example.com')).code).toBe('ERR_ID');
  });
});

test('underscores are valid if the option allows them, in requests and in files', () => {
  const key = domain((name) => name as string, { underscores: true });
  expect(idOf(key, '_dmarc.example.com')).toBe('example.com');
  expect(key.format.canonical('a_b.com')).toBe('a_b.com');
  expect(thrown(() => domain().format.canonical('a_b.com')).code).toBe('ERR_ID');
  expect(
    thrown(() =>
      idOf(
        domain((name) => name as string),
        '_dmarc.example.com',
      ),
    ).code,
  ).toBe('ERR_ID');
});

test.each<[options: unknown, code: string, message: string]>([
  [
    { underscores: 'yes' },
    'ERR_OPTION',
    "`domain.underscores` must be true or false, but was 'yes'. Write underscores: true, or leave it out.",
  ],
  [
    { maxNames: 5 },
    'ERR_UNKNOWN_OPTION',
    '`domain` has no option `maxNames` (its value was 5). Options: underscores, addresses.',
  ],
])('wrong options are rejected when the key is created: %o', (options, code, message) => {
  expect(thrown(() => domain(() => 'a.com', options as never))).toMatchObject({ code, message });
});
