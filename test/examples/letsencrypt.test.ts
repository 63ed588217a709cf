import request, { type Test } from 'supertest';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ExampleServer } from './example-server.ts';

interface Client {
  token: 'alice-token' | 'host-token' | 'loop-token';
  address: string;
}

interface Bucket {
  limit: string;
  id: string;
  remaining: number;
  burst: number;
}

const alice: Client = { token: 'alice-token', address: '203.0.113.7' };
const host: Client = { token: 'host-token', address: '198.51.100.1' };
const looping: Client = { token: 'loop-token', address: '2001:db8:9::1' };

let server: ExampleServer;

// A server for each test: a test then starts with full buckets.
beforeEach(async () => {
  server = await ExampleServer.start('letsencrypt');
});
afterEach(() => server.stop());

function headersOf({ token, address }: Client): Record<string, string> {
  return { Authorization: `Bearer ${token}`, 'X-Forwarded-For': address };
}

function order(client: Client, ...names: unknown[]): Test {
  return request(server.url).post('/orders').set(headersOf(client)).send({ names });
}

/** Orders that must all be valid. */
async function orders(count: number, nth: (index: number) => [client: Client, ...names: string[]]): Promise<void> {
  const answers = await Promise.all(Array.from({ length: count }, (_, index) => order(...nth(index))));
  expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: count }, () => 201));
}

/** The buckets that an order would spend from: `limit id: remaining`. */
async function left(client: Client, ...names: string[]): Promise<string[]> {
  return (await buckets(client, ...names)).map(({ limit, id, remaining }) => `${limit} ${id}: ${remaining}`);
}

async function buckets(client: Client, ...names: string[]): Promise<Bucket[]> {
  const query = { names: names.join(',') };
  return (await request(server.url).get('/limits').query(query).set(headersOf(client))).body as Bucket[];
}

// printf 'a.example.com,b.example.com,c.example.org' | sha256sum
const SET = '5e716b5ebc7c914b9266c6ad1b25551aa353164ae469bb599286ad9ee41238f9';
const names = ['a.example.com', 'b.example.com', 'c.example.org'];

it('an order takes one token from each of its limits, and one from each registered domain that it names', async () => {
  const client = { ...alice, address: '2001:db8:7::1' };
  const full = [
    'NewOrdersPerIPAddress 2001:db8:7::1: 20',
    'NewOrdersPerIPv6Range 2001:db8:7::/48: 100',
    'NewOrdersPerAccount 1001: 300',
    'CertificatesPerDomain example.com: 50',
    'CertificatesPerDomain example.org: 50',
    `CertificatesPerFQDNSet ${SET}: 5`,
  ];
  expect(await left(client, ...names)).toEqual(full);

  const response = await order(client, ...names);
  expect(response.status).toBe(201);
  expect(response.body).toEqual({ status: 'valid', names });
  expect(await left(client, ...names)).toEqual(
    full.map((bucket) => bucket.replace(/\d+$/, (count) => String(Number(count) - 1))),
  );
});

it('spellings of a name and of a set are one, and an IPv4 client has no range', async () => {
  await order(alice, ...names);
  expect(await left(alice, 'C.Example.ORG', 'b.example.com.', 'a.example.com', 'b.example.com')).toEqual([
    'NewOrdersPerIPAddress 203.0.113.7: 19',
    'NewOrdersPerAccount 1001: 299',
    'CertificatesPerDomain example.org: 49',
    'CertificatesPerDomain example.com: 49',
    `CertificatesPerFQDNSet ${SET}: 4`,
  ]);
});

describe('an order that one limit denies takes nothing from the others:', () => {
  const inRange = (index: number): Client => ({ token: 'host-token', address: `2001:db8:7::${index + 1}` });
  const client = inRange(0);

  it.each<[limit: string, id: string, exhaust: () => Promise<void>]>([
    ['NewOrdersPerIPAddress', client.address, () => orders(20, (index) => [client, `other.example${index}.net`])],
    [
      'NewOrdersPerIPv6Range',
      '2001:db8:7::/48',
      () => orders(100, (index) => [inRange(1 + (index % 50)), `other.example${index}.net`]),
    ],
    [
      'CertificatesPerDomain',
      'example.org',
      () => orders(50, (index) => [{ ...host, address: `10.20.0.${index}` }, `other${index}.example.org`]),
    ],
    ['CertificatesPerFQDNSet', SET, () => orders(5, () => [host, ...names])],
  ])('%s', async (limit, id, exhaust) => {
    await exhaust();
    const before = await left(client, ...names);
    expect(before.filter((bucket) => bucket.endsWith(': 0'))).toEqual([`${limit} ${id}: 0`]);

    const refusal = await order(client, ...names);
    expect(refusal.status).toBe(429);
    expect(Number(refusal.get('Retry-After'))).toBeGreaterThan(60);
    expect(refusal.get('Content-Type')).toMatch('application/problem+json');
    expect(refusal.body).toMatchObject({
      type: 'urn:ietf:params:acme:error:rateLimited',
      detail: expect.stringContaining(`The order exceeds ${limit} of ${id}. Try again in`) as string,
    });
    expect(await left(client, ...names)).toEqual(before);
  });

  it('NewOrdersPerAccount, which an override makes small', async () => {
    await orders(2, (index) => [looping, `other.example${index}.net`]);
    const before = await left(looping, ...names);
    const refusal = await order(looping, ...names);
    expect(refusal.body).toMatchObject({
      detail: expect.stringContaining('The order exceeds NewOrdersPerAccount of 1003.') as string,
    });
    expect(await left(looping, ...names)).toEqual(before);
  });
});

it('an override by account gives that account other numbers, and no one else', async () => {
  const burstOf = async (client: Client): Promise<number | undefined> =>
    (await buckets(client, 'example.com')).find(({ limit }) => limit === 'NewOrdersPerAccount')?.burst;
  expect([await burstOf(alice), await burstOf(host), await burstOf(looping)]).toEqual([300, 600, 2]);
});

it('an override by CIDR applies to every address of the network, and to no other', async () => {
  const inside = { ...alice, address: '10.20.255.254' };
  const outside = { ...alice, address: '10.21.0.1' };
  await orders(21, (index) => [inside, `example${index}.net`]);
  await orders(20, (index) => [outside, `example${index}.org`]);
  expect((await order(outside, 'example.net')).status).toBe(429);
  expect(await left(inside, 'example.com')).toContain('NewOrdersPerIPAddress 10.20.255.254: 979');
});

it('a failed order has all of its tokens back', async () => {
  const failing = ['unreachable.example.com', 'example.org'];
  await orders(1, () => [alice, ...failing.slice(1)]);
  const before = await left(alice, ...failing);
  const response = await order(alice, ...failing);
  expect(response.status).toBe(422);
  expect(response.body).toMatchObject({ type: 'urn:ietf:params:acme:error:unauthorized' });
  expect(await left(alice, ...failing)).toEqual(before);
});

it('a request that is not an order is the client’s error, and takes nothing', async () => {
  const wrong = [
    ['*.example.com'],
    ['203.0.113.7'],
    ['a.example.com,b.example.com'],
    // The hash of somebody's set is no name.
    [SET],
    [],
    [7],
    Array.from({ length: 101 }, (_, index) => `a${index}.example.com`),
  ];
  for (const listed of wrong) {
    const response = await order(alice, ...listed);
    expect([listed[0], response.status]).toEqual([listed[0], 400]);
    expect(response.body).toMatchObject({ type: 'urn:ietf:params:acme:error:malformed' });
  }
  expect(await left(alice, 'example.com')).toContain('NewOrdersPerIPAddress 203.0.113.7: 20');
});

it('ends on SIGTERM', async () => {
  expect((await order(alice, 'example.com')).status).toBe(201);
  expect(await server.stop()).toBe(0);
});
