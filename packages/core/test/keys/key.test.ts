import {
  accountId,
  clientNetwork,
  createLimiter,
  ipAddress,
  IpAddress,
  by,
  type IdFormat,
  type Key,
} from '@sluice/core';
import { describe, expect, test } from 'vitest';
import { query } from '../definitions/overrides/query.ts';
import { rejected, thrown } from '../support/thrown.ts';

/** An id format as a user may write it: `C-7` and `c-07` are one customer. */
const customerNumber: IdFormat = {
  name: 'customerNumber',
  canonical(text) {
    const digits = /^[Cc]-0*([0-9]+)$/.exec(text)?.[1];
    if (digits === undefined) throw new Error('no customer number');
    return `C-${digits}`;
  },
};

const source = (request: unknown, address = '203.0.113.7') => ({ request, clientAddress: IpAddress.parse(address)! });
const idOf = <Request>(key: Key<Request>, request?: unknown, address?: string) =>
  key.idOf!(source(request, address) as never, 'Orders');
const giving = (value: unknown) => accountId(() => value as string);

describe('a key takes its id from the value that a function gives:', () => {
  test.each<[value: unknown, id: string | null]>([
    ['alice', 'alice'],
    ['0', '0'],
    [7, '7'],
    [0, '0'],
    [-1, '-1'],
    [Number.MAX_SAFE_INTEGER, '9007199254740991'],
    [18_446_744_073_709_551_615n, '18446744073709551615'],
    [null, null],
  ])('%o', (value, id) => expect(idOf(giving(value))).toBe(id));

  test.each<[value: unknown, id: string | null]>([
    ['alice', 'alice'],
    [7, '7'],
    [7n, '7'],
    [null, null],
  ])('a promise of %o', async (value, id) => {
    const given = idOf(giving(Promise.resolve(value)));
    expect(given).toBeInstanceOf(Promise);
    expect(await given).toBe(id);
  });

  test('a query: not a promise, but with a then method', async () => {
    expect(await idOf(giving(query((give) => give('alice'))))).toBe('alice');
  });

  test('the function is given the framework’s own request', () => {
    const key = accountId((request: { user: string }) => request.user);
    expect(idOf(key, { user: 'alice' })).toBe('alice');
  });

  test('the id is canonical', () => expect(idOf(by(() => 'c-007', { format: customerNumber }))).toBe('C-7'));
});

describe('a key rejects, so that unrelated clients never share a bucket,', () => {
  const nothings: [value: unknown, shown: string][] = [
    [undefined, 'undefined'],
    [Number.NaN, 'NaN'],
    [Infinity, 'Infinity'],
    [1.5, '1.5'],
    [2 ** 53, '9007199254740992'],
    [{}, '{}'],
    [{ id: '7' }, "{ id: '7' }"],
    [[], '[]'],
    [true, 'true'],
    [Symbol('id'), 'Symbol(id)'],
    [() => 'alice', '[Function (anonymous)]'],
  ];
  const message = (shown: string): string =>
    'The key function of limit "Orders" must return a string, a safe integer, a bigint, or null for a request that the limit does not apply to, ' +
    `but returned ${shown}. To let requests without an id pass, write \`?? null\` after the id. To limit them by address, add .or(clientNetwork()) to the key.`;

  test.each(nothings)('%o', (value, shown) => {
    expect(thrown(() => idOf(giving(value)))).toMatchObject({ code: 'ERR_KEY', status: 500, message: message(shown) });
  });

  test.each(nothings)('a promise of %o', async (value, shown) => {
    const error = await rejected(() => idOf(giving(Promise.resolve(value))));
    expect(error).toMatchObject({ code: 'ERR_KEY', status: 500, message: message(shown) });
  });

  test.each([[''], ['a\nb']])('the text %o, which is the client’s error', async (text) => {
    expect(thrown(() => idOf(giving(text)))).toMatchObject({ code: 'ERR_ID', status: 400 });
    expect(await rejected(() => idOf(giving(Promise.resolve(text))))).toMatchObject({ code: 'ERR_ID', status: 400 });
  });
});

test('an error of the function is passed on', async () => {
  const broken = new Error('no session');
  const throwing = accountId(() => {
    throw broken;
  });
  expect(() => idOf(throwing)).toThrow(broken);
  await expect(idOf(accountId(() => Promise.reject(broken)))).rejects.toBe(broken);
});

describe('making a key', () => {
  test.each([['alice'], [null], [{ decimal: true }]])('of a value that is not a function is an error: %o', (from) => {
    const error = thrown(() => accountId(from as never));
    expect(error.code).toBe('ERR_KEY');
    expect(error.message).toMatch(
      /^`accountId` must be given a function of the request, but was .*\. For example accountId\(\(req\) => req\.user\?\.id \?\? null\)\.$/,
    );
  });

  test.each([
    [null],
    [(text: string) => text],
    [{ name: 'x' }],
    [{ canonical: String }],
    [{ name: '', canonical: String }],
  ])('of no id format is an error: %o', (format) => {
    const error = thrown(() => by(() => 'x', { format: format as never }));
    expect(error.code).toBe('ERR_KEY');
    expect(error.message).toMatch(
      /^`by\.format` must be an id format, but was .* For example by\(\(req\) => .*, \{ format: \{ name: 'customerNumber', canonical: /s,
    );
  });

  test('without a function gives one for limiter.spend alone', () => {
    expect(by(undefined, { format: customerNumber })).toMatchObject({ format: customerNumber, idOf: undefined });
    const limits = { PerCustomer: { key: by(undefined, { format: customerNumber }), count: 5, period: '1s' } };
    const limiter = createLimiter({ limits });
    limiter.spendSync([{ limit: 'PerCustomer', id: 'c-7' }]);
    expect(limiter.spendSync([{ limit: 'PerCustomer', id: 'C-007' }])).toMatchObject({ id: 'C-7', remaining: 3 });
  });
});

describe('a key with a fallback', () => {
  const key = accountId((request: string | null) => request).or(clientNetwork());

  test('has the id of the first where it has one', () => expect(idOf(key, 'alice')).toBe('alice'));

  test('has the id of the fallback, with its name as prefix, where the first does not apply', () => {
    expect(idOf(key, null)).toBe('clientNetwork:203.0.113.7');
    expect(idOf(key, null, '2001:db8:7:8::9')).toBe('clientNetwork:2001:db8:7::/48');
  });

  test('does not apply where neither applies', () => {
    const nobody = accountId(() => null).or(accountId(() => null));
    expect(idOf(nobody)).toBeNull();
  });

  test('waits for the first, for the fallback, for both', async () => {
    const later = (value: string | null) => accountId(() => Promise.resolve(value));
    expect(await idOf(later(null).or(later('b')))).toBe('accountId:b');
    expect(await idOf(later('a').or(later('b')))).toBe('a');
    expect(await idOf(accountId(() => null).or(later('b')))).toBe('accountId:b');
    expect(await idOf(later(null).or(clientNetwork()))).toBe('clientNetwork:203.0.113.7');
  });

  test('can’t be claimed by an account that is called like the fallback’s id', async () => {
    const claim = 'clientNetwork:203.0.113.7';
    const refused = {
      code: 'ERR_ID',
      status: 400,
      message:
        "`id` must be an id of accountId|clientNetwork that does not start with 'clientNetwork:', " +
        `which names the fallback's buckets, but was '${claim}'. ` +
        'If such ids are valid for you, put a prefix before all ids in the function of the key: `user-${id}`.',
    };
    expect(thrown(() => idOf(key, claim))).toMatchObject(refused);
    const later = accountId(() => Promise.resolve(claim)).or(clientNetwork());
    expect(await rejected(() => idOf(later))).toMatchObject(refused);
  });

  test('has a format that knows both kinds of ids', () => {
    expect(key.format.name).toBe('accountId|clientNetwork');
    const spelt = ['alice', 'clientNetwork:2001:db8:7::/48', 'clientNetwork:203.0.113.7'];
    expect(spelt.map((text) => key.format.canonical(text))).toEqual(spelt);
    expect(thrown(() => key.format.canonical('clientNetwork:alice')).code).toBe('ERR_ID');
    expect(thrown(() => key.format.canonical('')).code).toBe('ERR_ID');
  });

  test('has the canonical id of the fallback', () => {
    const either = accountId(() => null).or(ipAddress());
    expect(either.format.canonical('ipAddress:2001:DB8::0:1')).toBe('ipAddress:2001:db8::1');
  });

  test('may have a further fallback, and no id of the first can imitate either', () => {
    const chain = (account: string | null, customer: string | null) =>
      accountId(() => account)
        .or(by(() => customer, { format: customerNumber }))
        .or(clientNetwork());
    expect(idOf(chain('alice', 'C-7'))).toBe('alice');
    expect(idOf(chain(null, 'c-07'))).toBe('customerNumber:C-7');
    expect(idOf(chain(null, null))).toBe('clientNetwork:203.0.113.7');
    for (const claim of ['customerNumber:C-7', 'clientNetwork:203.0.113.7']) {
      expect(thrown(() => idOf(chain(claim, null))).code).toBe('ERR_ID');
    }
    expect(chain(null, null).format.canonical('customerNumber:c-07')).toBe('customerNumber:C-7');
  });

  test('may fall back to another function of the same format: their ids are distinct', () => {
    const made = (first: string | null, second: string | null) => accountId(() => first).or(accountId(() => second));
    expect(idOf(made('alice', 'bob'))).toBe('alice');
    expect(idOf(made(null, 'alice'))).toBe('accountId:alice');
    expect(thrown(() => idOf(made('accountId:alice', null))).code).toBe('ERR_ID');
    expect(made(null, null).format.canonical('accountId:alice')).toBe('accountId:alice');
  });

  test('may be overridden by either id', () => {
    const limits = { Orders: { key, count: 5, period: '1s' } };
    const overrides = { Orders: { alice: 'unlimited', 'clientNetwork:203.0.113.7': 'unlimited' } } as const;
    const limiter = createLimiter({ limits, overrides });
    for (const id of Object.keys(overrides.Orders)) {
      expect(limiter.spendSync([{ limit: 'Orders', id }]).limit).toBeNull();
    }
  });

  test.each<[what: string, make: () => unknown, message: string]>([
    [
      'a first key without a function',
      () => accountId().or(clientNetwork()),
      '`.or` needs two keys that get an id from a request. Give accountId a function, e.g. accountId((req) => req.user?.id ?? null).',
    ],
    [
      'a fallback without a function',
      () => clientNetwork().or(by(undefined, { format: customerNumber })),
      '`.or` needs two keys that get an id from a request. Give customerNumber a function, e.g. customerNumber((req) => req.user?.id ?? null).',
    ],
    [
      'a fallback that was not called',
      () => accountId(() => null).or(clientNetwork as never),
      '`.or` must be given a key, but was [Function: clientNetwork]. For example .or(clientNetwork()).',
    ],
    [
      'no fallback',
      () => accountId(() => null).or(undefined as never),
      '`.or` must be given a key, but was undefined. For example .or(clientNetwork()).',
    ],
    [
      'a second fallback of the same format',
      () =>
        accountId(() => null)
          .or(by(() => null, { format: customerNumber }))
          .or(clientNetwork())
          .or(by(() => null, { format: customerNumber })),
      '`.or` needs fallbacks of different formats, but customerNumber is used already. Get both ids in one function instead: ' +
        '(req) => req.user?.id ?? req.apiKey ?? null.',
    ],
  ])('is rejected for %s', (_, make, message) => {
    expect(thrown(make)).toMatchObject({ code: 'ERR_KEY', message });
  });
});

describe('by', () => {
  test('takes any text that an account may have, and keeps it apart from accounts that are its fallback', async () => {
    const key = by((req: { tenant: string | null }) => req.tenant).or(accountId(() => '7'));
    expect(await idOf(key, { tenant: '7' })).toBe('7');
    expect(await idOf(key, { tenant: null })).toBe('accountId:7');
    expect(key.format.name).toBe('by|accountId');
  });

  test('rejects texts as an account does, and what is no function', () => {
    expect(thrown(() => idOf(by(() => 'a\0')))).toMatchObject({ code: 'ERR_ID' });
    expect(thrown(() => by('tenant' as never)).message).toContain('For example by((req) =>');
  });
});
