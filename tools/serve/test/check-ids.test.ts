import { expect, test } from 'vitest';
import { canonicalHost } from '../src/spellings/canonical-host.ts';
import { served } from '../../../test/service/served.ts';
import { asked } from './asked.ts';

const LIMITS = `
PerText: { burst: 1, count: 1, period: 1h, idFormat: by }
PerClient: { burst: 1, count: 1, period: 1h, idFormat: ipAddress }
`;
const TABLES = `
http:
  host: { limits: [{ limit: PerText, id: host }] }
  method: { limits: [{ limit: PerText, id: method }] }
  account: { limits: [{ limit: PerText, id: { header: X-Account } }] }
  authorization: { limits: [{ limit: PerText, id: { header: Authorization } }] }
  address: { limits: [{ limit: PerClient, id: address }] }
`;

async function proxy(options = {}) {
  const { servers, events } = await served(LIMITS, TABLES, options);
  const statusOf = async (table: string, headers: Readonly<Record<string, string | string[]>>): Promise<number> =>
    (await asked(servers.ports.http, table, headers)).status;
  return { statusOf, events };
}

test('all spellings of a host have one bucket', async () => {
  const { statusOf } = await proxy();
  const host = (text: string) => statusOf('host', { 'x-forwarded-host': text });
  expect(await host('shop.example')).toBe(200);
  const others = ['shop.example:1', 'shop.example:443', 'shop.example:', 'shop.example.', 'shop.example.:8443'];
  for (const text of [
    ...others,
    'SHOP.Example',
    'me@shop.example',
    'me:pw@shop.example:1',
    'shop%2eexample',
    'ｓhop.example',
  ])
    expect([text, await host(Buffer.from(text).toString('latin1'))]).toEqual([text, 429]);
  expect(await statusOf('host', { host: 'shop.example:99' })).toBe(429);
  expect(await host('other.example')).toBe(200);
});

test.each([
  ['bücher.example', 'xn--bcher-kva.example'],
  ['XN--BCHER-KVA.example', 'xn--bcher-kva.example'],
  ['[2001:DB8:0:0::1]:443', '2001:db8::1'],
  ['127.1', '127.0.0.1'],
  ['0x7f.0.0.1', '127.0.0.1'],
  ['2130706433', '127.0.0.1'],
  ['a_b.example', 'a_b.example'],
  ['localhost', 'localhost'],
])('the host %s is %s', (text, host) => {
  expect(canonicalHost(text)?.host).toBe(host);
});

test.each(['', '.', ':80', 'a b', 'a, b', 'a.example, b.example', 'a/b', 'a\\b', '[::1', '[]', 'a:b', 'a?b'])(
  'a host that is not one is denied, and has no bucket: %j',
  async (text) => {
    const { statusOf } = await proxy();
    expect(await statusOf('host', { 'x-forwarded-host': text, host: 'proxy.example' })).toBe(400);
  },
);

test('all methods that nobody registered have one bucket', async () => {
  const { statusOf } = await proxy();
  const method = (name: string) => statusOf('method', { 'x-forwarded-method': name });
  expect([await method('get'), await method('GET'), await method('POST')]).toEqual([200, 429, 200]);
  expect([await method('A1'), await method('A2'), await method('B')]).toEqual([200, 429, 429]);
});

test('a field that names an account is denied if it is there twice', async () => {
  const { statusOf } = await proxy();
  expect(await statusOf('account', { 'x-account': ['a', 'b'] })).toBe(400);
  expect(await statusOf('authorization', { authorization: ['a', 'b'] })).toBe(400);
  expect([await statusOf('account', { 'x-account': 'Doe, J.' }), await statusOf('account', {})]).toEqual([200, 200]);
});

test('an account in UTF-8 is the text that it is in a file of overrides', async () => {
  const all = await served(LIMITS, TABLES, {
    overrides: () => '[{ PerText: { burst: 3, count: 3, period: 1h, ids: [Àda] } }]',
  });
  const account = { 'x-account': Buffer.from('Àda').toString('latin1') };
  const statuses = [];
  for (let i = 0; i < 4; i++) statuses.push((await asked(all.servers.ports.http, 'account', account)).status);
  expect(statuses).toEqual([200, 200, 200, 429]);
});

test.each(['x-real-ip', 'X-Real-IP', 'cf-connecting-ip'])(
  'the address is read from %s alone',
  async (addressHeader) => {
    const { statusOf } = await proxy({ addressHeader });
    const client = (address: string) => statusOf('address', { [addressHeader]: address });
    expect([await client('203.0.113.7'), await client('203.0.113.8'), await client('203.0.113.7')]).toEqual([
      200, 200, 429,
    ]);
  },
);

test('the address is read from Forwarded alone', async () => {
  const { statusOf } = await proxy({ addressHeader: 'forwarded' });
  const client = (value: string) => statusOf('address', { forwarded: value });
  expect([await client('for=203.0.113.7'), await client('for="203.0.113.7:99"')]).toEqual([200, 429]);
});

test('a field without an address is denied, and is no address of the proxy', async () => {
  for (const addressHeader of ['x-real-ip', 'x-forwarded-for', 'forwarded']) {
    const { statusOf, events } = await proxy({ addressHeader });
    for (const value of ['unknown', 'x', '203.0.113.7 203.0.113.8', 'for=unknown', ',']) {
      expect([value, await statusOf('address', { [addressHeader]: value })]).toEqual([value, 400]);
    }
    expect(await statusOf('address', { [addressHeader]: ['x', 'y'] })).toBe(400);
    expect(events[0]).toMatchObject({ type: 'proxy-misconfigured', message: expect.stringContaining(addressHeader) });
  }
});

test('a proxy that sends another field than that of the option is told which', async () => {
  const { statusOf, events } = await proxy({ addressHeader: 'x-real-ip' });
  expect(await statusOf('address', { 'x-forwarded-for': '203.0.113.7' })).toBe(500);
  expect(events).toMatchObject([{ message: expect.stringContaining('sends no x-real-ip') }]);
});

test('a client on the machine of the proxy has its own bucket', async () => {
  const { statusOf } = await proxy();
  expect(await statusOf('address', { 'x-forwarded-for': '127.0.0.1' })).toBe(200);
  expect(await statusOf('address', { 'x-forwarded-for': '127.0.0.1' })).toBe(429);
  expect(await statusOf('address', { 'x-forwarded-for': 'x, 127.0.0.1' })).toBe(429);
});
