import { expect, test } from 'vitest';
import { metricLines, served } from '../../../test/service/served.ts';
import { asked } from './asked.ts';

const LIMITS = `
Search: { burst: 10, count: 10, period: 1h, idFormat: ipAddress }
Orders: { burst: 10, count: 10, period: 1h, idFormat: ipAddress }
PerPath: { burst: 1, count: 1, period: 1h, idFormat: by }
`;
const TABLES = `
http:
  api:
    limits:
      - { limit: Search, id: address, paths: [/search, /search/*], cost: 2 }
      - { limit: Search, id: address, paths: [/*], cost: 1 }
      - { limit: Orders, id: address, paths: [/orders/*], methods: [GET] }
  express:
    caseInsensitive: true
    limits:
      - { limit: Search, id: address, paths: [/search/*] }
      - { limit: Orders, id: address, paths: [/orders/*], caseInsensitive: false }
  tried:
    limits:
      - { limit: Search, id: address, paths: [/search/*], shadow: true }
  path:
    limits: [{ limit: PerPath, id: path }]
  anyCase:
    caseInsensitive: true
    limits: [{ limit: PerPath, id: path }]
  login:
    limits: [{ limit: PerPath, id: path, paths: [/login, /search/*] }]
`;

async function proxy() {
  const { servers, service, events } = await served(LIMITS, TABLES);
  let clients = 0;
  /** Returns what was taken from the limits of a new client by one request. */
  const takenBy = async (table: string, uri: string | string[], method = 'GET'): Promise<Record<string, number>> => {
    const headers = {
      'x-forwarded-for': `203.0.113.${++clients}`,
      'x-forwarded-uri': uri,
      'x-forwarded-method': method,
    };
    const { headers: fields } = await asked(servers.ports.http, table, headers);
    const left = [...String(fields['ratelimit'] ?? '').matchAll(/"(\w+)";r=(\d+)/g)];
    return Object.fromEntries(left.map(([, limit, remaining]) => [limit!, 10 - Number(remaining)]));
  };
  const statusOf = async (table: string, uri: string | string[]): Promise<number> =>
    (await asked(servers.ports.http, table, { 'x-forwarded-uri': uri, 'x-forwarded-for': '203.0.113.7' })).status;
  return { takenBy, statusOf, service, events };
}

test('a request that is under all rules, because its path has too many spellings, is reported', async () => {
  const { takenBy, events } = await proxy();
  expect(await takenBy('api', '/x')).toEqual({ Search: 1 });
  expect(events).toEqual([]);
  const hostile = '/a%252e%253b%2523%255c%20;x//b/./c/../d';
  expect(await takenBy('api', hostile)).toEqual({ Search: 2, Orders: 1 });
  expect(events).toMatchObject([{ type: 'under-all-rules', table: 'api' }]);
});

test('of several rules for one bucket, the largest cost counts', async () => {
  const { takenBy } = await proxy();
  expect(await takenBy('api', '/search/a')).toEqual({ Search: 2 });
  expect(await takenBy('api', '/x')).toEqual({ Search: 1 });
  expect(await takenBy('api', '/orders/..%2fsearch/a')).toEqual({ Search: 2, Orders: 1 });
});

test('a limit of GET counts HEAD, which frameworks answer with the handler of GET', async () => {
  const { takenBy } = await proxy();
  expect(await takenBy('api', '/orders/1', 'HEAD')).toMatchObject({ Orders: 1 });
  expect(await takenBy('api', '/orders/1', 'get')).toMatchObject({ Orders: 1 });
  expect(await takenBy('api', '/orders/1', 'POST')).not.toHaveProperty('Orders');
});

test('what could be any path or method is under the limits of all', async () => {
  const { takenBy } = await proxy();
  const all = { Search: 2, Orders: 1 };
  expect(await takenBy('api', '')).toEqual(all);
  expect(await takenBy('api', ['/', '/x'])).toEqual(all);
  expect(await takenBy('api', '/orders/1', 'PUT, GET')).toMatchObject({ Orders: 1 });
  expect(await takenBy('api', '/orders/1', '')).toMatchObject({ Orders: 1 });
  expect(await takenBy('tried', '')).toEqual({});
});

test('a table or a rule may ignore the case of paths', async () => {
  const { takenBy } = await proxy();
  expect(await takenBy('api', '/SEARCH/a')).toEqual({ Search: 1 });
  expect(await takenBy('express', '/S%45arch/a')).toEqual({ Search: 1 });
  expect(await takenBy('express', '/ORDERS/a')).toEqual({});
  expect(await takenBy('express', '/orders/a')).toEqual({ Orders: 1 });
});

test('a rule that only counts applies where every backend would see its path', async () => {
  const { statusOf, service } = await proxy();
  const counted = () =>
    metricLines(service).find((line) => /^sluice_limit_denials_total.*shadow="true"/.test(line)) ?? '';
  for (let i = 0; i < 12; i++) expect(await statusOf('tried', '/search/a')).toBe(200);
  expect(counted()).toMatch(/ 2$/);
  await statusOf('tried', '/search/..%2fa');
  expect(counted()).toMatch(/ 2$/);
});

test('all spellings of one path have one bucket', async () => {
  const { statusOf } = await proxy();
  expect(await statusOf('path', '/orders')).toBe(200);
  const others = [
    '/orders/',
    '//orders',
    '/%6frders',
    '/a/../orders',
    '/orders?x=1',
    '/orders;x',
    '/orders#x',
    '/orders%00',
    '/%256frders',
  ];
  for (const uri of [...others, 'http://x/orders', '/orders/.', '/a\\..\\orders', '/orders%2f']) {
    expect([uri, await statusOf('path', uri)]).toEqual([uri, 429]);
  }
  expect(await statusOf('path', '/orders/1')).toBe(200);
});

test('a path that some server understands as that of the rule has the bucket of the rule', async () => {
  const { statusOf } = await proxy();
  expect([await statusOf('login', '/login'), await statusOf('login', '/search/a')]).toEqual([200, 200]);
  // Each of these is /login to a server that begins the query at a semicolon, and another path to others.
  for (const uri of ['/login;/../a', '/login;/../b', '/login;/../c?x']) expect(await statusOf('login', uri)).toBe(429);
  for (const host of ['x', 'y', 'z']) expect(await statusOf('login', `//${host}/search/a`)).toBe(429);
});

test('a path that is not UTF-8 has a bucket, and one without case where that is said', async () => {
  const { statusOf } = await proxy();
  expect([await statusOf('path', '/%ff'), await statusOf('path', '/%fe'), await statusOf('path', '/\xff')]).toEqual([
    200, 200, 429,
  ]);
  expect([await statusOf('anyCase', '/A'), await statusOf('anyCase', '/%61')]).toEqual([200, 429]);
});

test('a path that is not known has no bucket, and is denied', async () => {
  const { statusOf } = await proxy();
  expect([await statusOf('path', ''), await statusOf('path', ['/a', '/b'])]).toEqual([400, 400]);
});

test('a hostile path under more rules than a request can have is denied, and takes nothing', async () => {
  const rules = Array.from({ length: 70 }, (_, i) => `{ limit: PerPath, id: path, paths: [/${i}] }`);
  const { servers } = await served(LIMITS, `http: { api: { limits: [${rules.join(', ')}] } }`);
  const statusOf = async (uri: string) => (await asked(servers.ports.http, 'api', { 'x-forwarded-uri': uri })).status;
  expect([await statusOf(`/%${'25'.repeat(200)}41`), await statusOf('/1'), await statusOf('/1')]).toEqual([
    400, 200, 429,
  ]);
});
