import { expect, test } from 'vitest';
import { descriptor, envoyOf } from '../../../test/service/envoy.ts';
import { served } from '../../../test/service/served.ts';

const LIMITS = `
Logins: { burst: 2, count: 2, period: 1h, idFormat: by }
PerPath: { burst: 2, count: 2, period: 1h, idFormat: by }
PerClient: { burst: 5, count: 5, period: 1h, idFormat: by }
PerHost: { burst: 2, count: 2, period: 1h, idFormat: by }
Shop: { burst: 2, count: 2, period: 1h, idFormat: by }
Gets: { burst: 2, count: 2, period: 1h, idFormat: by }
`;
const RULES = `
      - { descriptor: [{ path: /login }, client], limit: Logins, id: [client] }
      - { descriptor: [{ path: /api/* }, client], limit: Logins, id: [client] }
      - { descriptor: [{ path: "/find?q=*" }, client], limit: Logins, id: [client] }
      - { descriptor: [{ path: /static/* }, client], unlimited: true }
      - { descriptor: [{ path: /tried/* }, client], limit: Logins, id: [client], shadow: true }
      - { descriptor: [{ path: /shut }, client], blocked: true }
      - { descriptor: [path, client], limit: PerClient, id: [client] }
      - { descriptor: [":path"], limit: PerPath }
      - { descriptor: [{ ":path": /one }, id], limit: PerPath, id: descriptor }
      - { descriptor: [{ ":path": /all/* }, id], limit: PerPath, id: descriptor }
      - { descriptor: [{ plan: gold }], unlimited: true, replaces: [PerHost] }
      - { descriptor: [{ uri: /free/* }], unlimited: true, replaces: [PerHost] }
      - { descriptor: [{ uri: /paid/* }], limit: Shop, id: rule }
      - { descriptor: [host], limit: PerHost }
      - { descriptor: [{ ":authority": shop.example }], limit: Shop }
      - { descriptor: [{ ":authority": "shop.example:8443" }], unlimited: true }
      - { descriptor: [{ method: GET }, client], limit: Gets, id: [client] }
      - { descriptor: [{ ":method": HEAD }], unlimited: true }
      - { descriptor: [{ ":method": GET }], limit: Gets, id: rule }`;
const TABLES = `envoy:\n  ingress:\n    rules:${RULES}\n`;

type Entries = Readonly<Record<string, string>>;

async function ingress(tables = TABLES) {
  const { servers, events } = await served(LIMITS, tables);
  const envoy = envoyOf(servers.ports.grpc);
  const ask = async (...all: readonly Entries[]) =>
    envoy.ask({ domain: 'ingress', descriptors: all.map((entries) => descriptor(entries)) });
  let clients = 0;
  /** Returns the codes of several requests of one new client. */
  const codes = async (entries: Entries, count = 3): Promise<readonly string[]> => {
    const client = `203.0.113.${++clients}`;
    const found: string[] = [];
    // oxlint-disable-next-line no-await-in-loop -- one request after the other
    for (let i = 0; i < count; i++) found.push((await ask({ ...entries, client })).overall_code);
    return found;
  };
  return { ask, codes, events };
}

test('a descriptor that is under all rules, because its path has too many spellings, is reported', async () => {
  const { ask, events } = await ingress();
  await ask({ path: '/a', client: '203.0.113.200' });
  expect(events).toEqual([]);
  await ask({ path: '/a%252e%253b%2523%255c%20;x//b/./c/../d', client: '203.0.113.200' });
  expect(events).toMatchObject([{ type: 'under-all-rules', table: 'ingress' }]);
});

test.each([
  ['/users/7/orders', true],
  ['/users/7/orders?page=2', true],
  ['/users/7/items/8/orders/', true],
  ['//users/a/%6frders', true],
  ['/users//orders', true],
  ['/users/orders', false],
  ['/users/7/orders/9', false],
  ['/users/7', false],
  ['/v1/files/a.json?x', true],
  ['/v1/files/a.json.bak', false],
])('a rule with a * inside its value applies to what fits it, in every spelling: %s %s', async (path, isLimited) => {
  const { codes } = await ingress(`envoy:
  ingress:
    rules:
      - { descriptor: [{ path: /users/*/orders }, client], limit: Logins, id: [client] }
      - { descriptor: [{ path: /*/files/*.json }, client], limit: Logins, id: [client] }
`);
  expect(await codes({ path })).toEqual(isLimited ? LIMITED : FREE);
});

test('all that fits a * has its own bucket, each in one spelling, and the first pattern of the file applies', async () => {
  const { ask } = await ingress(`envoy:
  ingress:
    rules:
      - { descriptor: [{ path: /users/*/orders }], limit: PerPath }
      - { descriptor: [{ path: /users/* }], unlimited: true }
      - { descriptor: [{ path: /users/7/orders }], limit: PerClient }
`);
  const remaining = async (path: string) => (await ask({ path })).statuses[0]!.limit_remaining;
  expect(await remaining('/users/1/orders')).toBe(1);
  expect(await remaining('/users/%31/orders/?x')).toBe(0);
  expect(await remaining('/users/2/orders')).toBe(1);
  expect(await remaining('/users/7/orders')).toBe(4);
  expect((await ask({ path: '/users/2' })).statuses[0]!.current_limit).toBeNull();
});

const LIMITED = ['OK', 'OK', 'OVER_LIMIT'];
const FREE = ['OK', 'OK', 'OK'];

test.each([
  '/login',
  '/login?x=1',
  '/login?',
  '/login#',
  '//login',
  '/login/',
  '/%6cogin',
  '/login%00',
  '/login;x',
  '/x/../login',
  '/x/..%2flogin',
  '/static/../login',
  '/static/..%2flogin',
  '/api/a?x=1',
  '/api/..',
  '/%61pi/a',
  '/find?q=1',
])('a limit of a path is used up by %s', async (path) => {
  const { codes } = await ingress();
  expect(await codes({ path })).toEqual(LIMITED);
});

test('a path without a rule has the rule of its key', async () => {
  const { codes } = await ingress();
  expect(await codes({ path: '/x?a' }, 6)).toEqual(['OK', 'OK', 'OK', 'OK', 'OK', 'OVER_LIMIT']);
  expect(await codes({ path: '/find?p=1' }, 6)).toEqual(['OK', 'OK', 'OK', 'OK', 'OK', 'OVER_LIMIT']);
});

test('an exemption of a path is none for another path that only some servers understand so', async () => {
  const { codes } = await ingress();
  for (const path of ['/static/a', '/static/a?b=../c', '/static/a%20b', '/tried/a']) {
    expect([path, (await codes({ path }, 7)).includes('OVER_LIMIT')]).toEqual([path, false]);
  }
  for (const path of ['/static/../a', '/static/..%2fa', '//static/a', '/tried/..%2fa', '/a/../static/b', '/static/']) {
    expect([path, (await codes({ path }, 7)).includes('OVER_LIMIT')]).toEqual([path, true]);
  }
});

test('a path is blocked in all its spellings, and by one that nobody can list', async () => {
  const { codes } = await ingress();
  const many = `/%${'25'.repeat(200)}41`;
  for (const path of ['/shut', '/shut/', '/static/../shut', '/shut?x', many]) {
    expect([path, ...(await codes({ path }, 1))]).toEqual([path, 'OVER_LIMIT']);
  }
});

test('a bucket that several rules name for one descriptor is used once', async () => {
  const { codes } = await ingress();
  expect(await codes({ path: '/api/../login' })).toEqual(LIMITED);
});

test('all spellings of a path have one bucket', async () => {
  const { ask } = await ingress();
  const code = async (entries: Entries) => (await ask(entries)).overall_code;
  const all = await Promise.all(['/a', '/a?1', '/a?2', '//a', '/%61'].map((path) => code({ ':path': path })));
  expect(all.filter((each) => each === 'OK')).toHaveLength(2);
  for (const path of ['/one;/../x', '/one;/../y']) await code({ ':path': path, id: '7' });
  expect(await code({ ':path': '/one', id: '7' })).toBe('OVER_LIMIT');
  for (const host of ['x', 'y']) await code({ ':path': `//${host}/all/a`, id: '7' });
  expect(await code({ ':path': '/all/a', id: '7' })).toBe('OVER_LIMIT');
});

test('a descriptor whose path may be another one does not replace a limit', async () => {
  const { ask } = await ingress();
  const codeOf = async (uri: string) => (await ask({ uri }, { host: 'a.example' })).statuses.at(1)!.code;
  for (let i = 0; i < 4; i++) expect(await codeOf('/free/a')).toBe('OK');
  expect([await codeOf('/free/..%2fpaid/a'), await codeOf('/free/../x'), await codeOf('/free/..')]).toEqual(LIMITED);
});

test('all spellings of a host have one bucket, and a rule with a port is about that port', async () => {
  const { ask } = await ingress();
  const code = async (entries: Entries) => (await ask(entries)).overall_code;
  const hosts = ['shop.example', 'SHOP.example:1', 'shop.example.'];
  expect(await Promise.all(hosts.map((host) => code({ host })))).toEqual(LIMITED);
  expect(await Promise.all(hosts.map((host) => code({ ':authority': host })))).toEqual(LIMITED);
  expect(await code({ ':authority': 'Shop.example.:8443' })).toBe('OK');
});

test('a rule of GET is that of HEAD, unless HEAD has its own', async () => {
  const { codes, ask } = await ingress();
  expect(await codes({ method: 'HEAD' })).toEqual(LIMITED);
  for (let i = 0; i < 3; i++) expect((await ask({ ':method': 'HEAD' })).overall_code).toBe('OK');
});

test('keys says what the values of keys are, and caseInsensitive how paths are compared', async () => {
  const tables = `
envoy:
  ingress:
    caseInsensitive: true
    keys: { path: text, target: path, site: host }
    rules:
      - { descriptor: [{ path: /login }, client], limit: Logins, id: [client] }
      - { descriptor: [{ target: /login }, client], limit: Logins, id: [client] }
      - { descriptor: [site, client], limit: Logins }
`;
  const { codes } = await ingress(tables);
  expect([await codes({ path: '/login?x' }), await codes({ path: '/login' })]).toEqual([FREE, LIMITED]);
  expect([await codes({ target: '/LOGIN?x' }), await codes({ site: 'A.example:1' })]).toEqual([LIMITED, LIMITED]);
});

test('a hostile path under more rules than a request can have is denied, and takes nothing', async () => {
  const rules = Array.from({ length: 70 }, (_, i) => `{ descriptor: [{ path: /${i} }], limit: Logins, id: rule }`);
  const { ask } = await ingress(`envoy: { ingress: { rules: [${rules.join(', ')}] } }`);
  const many = await ask({ path: `/%${'25'.repeat(200)}41` });
  expect(many.overall_code).toBe('OVER_LIMIT');
  expect((await ask({ path: '/1' })).statuses.at(0)).toMatchObject({ code: 'OK', limit_remaining: 1 });
});
