import { accountId, clientNetwork, compound, createLimiter, ipAddress, by, type Key } from '@sluice/core';
import { describe, expect, test } from 'vitest';
import { coreOf } from '../../src/limiter/create-limiter.ts';

const text = (id: unknown): string => String(id);
let names = 0;

/** A limiter of one limit, and what it does with requests of an id on a server. */
function made(name: string, lines: string[], key: Key = accountId(text)) {
  const limits = { [name]: { key, count: 100_000, period: '1d' } };
  const limiter = createLimiter({ limits, log: (line) => lines.push(line) });
  return (server: object | undefined, id = 'ann'): void => {
    const decision = limiter.spendSync([{ limit: name, id }]);
    coreOf(limiter).noteRequest({ request: undefined, server }, decision, false);
  };
}

/** The lines of limiters of which each decides so many requests, one limiter after the other. */
function inARow(limiters: number, decide: (request: ReturnType<typeof made>, i: number) => void): string[] {
  const lines: string[] = [];
  const name = `Limit${names++}`;
  for (let i = 0; i < limiters; i++) decide(made(name, lines), i);
  return lines;
}

describe('a limiter for each request', () => {
  const server = {};

  test('is warned of once, with the remedy', () => {
    const lines = inARow(30, (request) => request(server));
    expect(lines).toEqual([
      'Sluice: A new limiter seems to be made for each request: several of the same limits decided one request each, of the same client. ' +
        'Each starts with full buckets, so nothing is limited. ' +
        'Call createLimiter and rateLimit once, outside of the request handler: const limit = rateLimit({ … }); app.use(limit).',
    ]);
  });

  test('is warned of among requests of many clients, too', () => {
    expect(inARow(100, (request, i) => request(server, `client${i % 7}`))).toHaveLength(1);
  });

  test('is warned of beside a limiter of the same name that is kept', () => {
    const lines: string[] = [];
    const name = `Limit${names++}`;
    const kept = made(name, lines);
    for (let i = 0; i < 30; i++) {
      kept(server);
      made(name, lines)(server);
    }
    expect(lines).toHaveLength(1);
  });
});

describe('no limiter for each request are', () => {
  const server = {};

  test('a few limiters', () => {
    expect(inARow(9, (request) => request(server))).toEqual([]);
  });

  test('limiters that were all made before the first request, for many routes', () => {
    const lines: string[] = [];
    const routes = Array.from({ length: 50 }, () => made('Route', lines));
    for (const route of routes) route(server);
    expect(lines).toEqual([]);
  });

  test('limiters that are created at the first request of a tenant, and kept', () => {
    const lines: string[] = [];
    const name = `Limit${names++}`;
    for (let i = 0; i < 50; i++) {
      const tenant = made(name, lines);
      tenant(server);
      if (i % 5 === 0) tenant(server);
    }
    expect(lines).toEqual([]);
  });

  test('limiters of other clients: of a tenant each', () => {
    expect(inARow(50, (request, i) => request(server, `tenant${i}`))).toEqual([]);
  });

  test('limiters of tests, with a server for each', () => {
    expect(inARow(50, (request) => request({}))).toEqual([]);
  });

  test('limiters whose requests have no server, as in serverless functions', () => {
    expect(inARow(50, (request) => request(undefined))).toEqual([]);
  });

  test('limiters of which no limit applied', () => {
    const lines: string[] = [];
    for (let i = 0; i < 50; i++) {
      const limiter = createLimiter({ limits: {}, log: (line) => lines.push(line) });
      coreOf(limiter).noteRequest({ request: undefined, server }, limiter.spendSync([]), false);
    }
    expect(lines).toEqual([]);
  });
});

describe('ids that are IPv6 addresses', () => {
  const idsOf = (key: Key, ...ids: string[]): string[] => {
    const lines: string[] = [];
    const request = made('PerAddress', lines, key);
    for (const id of ids) request({}, id);
    return lines;
  };

  test('are warned of once for each limit, with the remedy', () => {
    expect(idsOf(accountId(text), 'ann', '2001:db8::1', '2001:db8::2', '::ffff:203.0.113.7')).toEqual([
      'Sluice: The ids of limit "PerAddress" are IPv6 addresses. An IPv6 client can take a new address, and with it a full bucket, for each request. ' +
        'Use key: clientNetwork(), which limits an IPv4 address or an IPv6 /48 (for a /56 clientNetwork({ ipv6PrefixLength: 56 })), and finds the client behind trustedProxies. ' +
        'For users, and clients that are not logged in: accountId((req) => req.user?.id ?? null).or(clientNetwork()). ' +
        'To limit single addresses on purpose, use key: ipAddress().',
    ]);
  });

  test('are warned of for every limit of a limiter, however soon after each other', () => {
    const lines: string[] = [];
    const numbers = { count: 5, period: '1s' };
    const limits = { A: { key: accountId(text), ...numbers }, B: { key: accountId(text), ...numbers } };
    const limiter = createLimiter({ limits, log: (line) => lines.push(line) });
    const ids = (['A', 'B'] as const).map((limit) => ({ limit, id: '::1' }));
    coreOf(limiter).noteRequest({ request: undefined }, limiter.spendSync(ids), false);
    expect(lines.map((line) => /"[AB]"/.exec(line)?.[0])).toEqual(['"A"', '"B"']);
  });

  test.each<[what: string, key: Key, id: string]>([
    ['of ipAddress(), which is meant', ipAddress(), '2001:db8::1'],
    ['of clientNetwork()', clientNetwork(), '2001:db8:7::/48'],
    ['of clientNetwork({ ipv6PrefixLength: 128 })', clientNetwork({ ipv6PrefixLength: 128 }), '2001:db8:7::1/128'],
    ['of a fallback', accountId(text).or(clientNetwork()), 'clientNetwork:2001:db8:7::/48'],
    ['of a compound of an account and an address', compound(accountId(text), ipAddress()), 'abc:2001:db8::1'],
    ['that are IPv4 addresses', accountId(text), '203.0.113.7'],
    ['that have colons in them', accountId(text), 'tenant:ann'],
    ['that are MAC addresses', by(text, { format: { name: 'mac', canonical: text } }), '00:1b:44:11:3a:b7'],
  ])('are not warned of: ids %s', (_, key, id) => {
    expect(idsOf(key, id)).toEqual([]);
  });

  test('cause no warning when their limit was removed, or after the first ten thousand requests', () => {
    const lines: string[] = [];
    const limiter = createLimiter({
      limits: { Gone: { key: accountId(text), count: 50_000, period: '1s' } },
      log: (line) => lines.push(line),
    });
    const look = (id: string): void => {
      coreOf(limiter).noteRequest({ request: undefined }, limiter.spendSync([{ limit: 'Gone', id }]), false);
    };
    const decision = limiter.spendSync([{ limit: 'Gone', id: '::1' }]);
    limiter.replace({ limits: {} });
    coreOf(limiter).noteRequest({ request: undefined }, decision, false);
    limiter.replace({ limits: { Gone: { key: accountId(text), count: 50_000, period: '1s' } } });
    for (let i = 1; i < 10_000; i++) look('ann');
    look('::1');
    expect(lines).toEqual([]);
  });
});

// The last one: what is remembered is the process's own.
test('of more than a hundred sets of limits nothing is remembered, so nothing is warned of', () => {
  for (let i = 0; i < 100; i++) inARow(1, (request) => request({}));
  const server = {};
  expect(inARow(50, (request) => request(server))).toEqual([]);
});
