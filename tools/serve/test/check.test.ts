import { request, type IncomingHttpHeaders } from 'node:http';
import { createConnection } from 'node:net';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { once } from 'node:events';
import { expect, onTestFinished, test } from 'vitest';
import { openService, startServers } from '@sluice/serve';
import { metricLines, served, type Served } from '../../../test/service/served.ts';

const LIMITS = `
PerClient: { burst: 2, count: 1, period: 1s, idFormat: clientNetwork }
PerAccount: { count: 5, period: 1m, idFormat: accountId }
Everyone: { count: 4, period: 1m, idFormat: everyone }
Networks: { count: 9, period: 1m, idFormat: ipv6RangeCIDR }
PerHost: { count: 3, period: 1m, idFormat: by }
`;
const TABLES = `
http:
  api:
    limits:
      - { limit: PerClient, id: address }
      - { limit: PerAccount, id: { header: X-Account }, cost: 2, methods: [POST], paths: [/orders, /orders/*] }
      - { limit: Networks, id: address }
  nginx:
    accelRedirect: "@backend"
    fields: legacy
    limits: [{ limit: Everyone }]
  tried:
    shadow: true
    limits: [{ limit: Everyone }]
  hosts:
    fields: false
    limits: [{ limit: PerHost, id: host }]
onFailure: { Everyone: closed }
`;

interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

interface Asked {
  readonly path: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly socketPath?: string;
}

function ask(port: number | undefined, { path, method = 'GET', headers = {}, socketPath }: Asked): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const where = socketPath === undefined ? { host: '127.0.0.1', port } : { socketPath };
    const sent = request({ ...where, path, method, headers, agent: false }, (response) => {
      let body = '';
      response.setEncoding('utf8').on('data', (chunk: string) => (body += chunk));
      response.on('end', () => resolve({ status: response.statusCode!, headers: response.headers, body }));
    });
    sent.on('error', reject).end();
  });
}

async function proxy(options = {}): Promise<Served & { readonly ask: (asked: Asked) => Promise<Answer> }> {
  const all = await served(LIMITS, TABLES, options);
  return { ...all, ask: (asked) => ask(all.servers.ports.http, asked) };
}

const client = { 'x-forwarded-for': '203.0.113.7', 'x-forwarded-uri': '/' };

test('an allowed request is answered with 200, the fields and no body', async () => {
  const { ask: send } = await proxy();
  const answer = await send({ path: '/check/api', headers: client });
  expect(answer).toMatchObject({
    status: 200,
    body: '',
    headers: { ratelimit: '"PerClient";r=1;t=1', 'content-length': '0' },
  });
});

test('a denied request is answered with 429, all fields and problem details', async () => {
  const { ask: send } = await proxy();
  for (let i = 0; i < 2; i++) await send({ path: '/check/api', headers: client });
  const answer = await send({ path: '/check/api', method: 'POST', headers: client });
  expect(answer.status).toBe(429);
  expect(answer.headers).toMatchObject({
    'retry-after': '1',
    'ratelimit-policy': '"PerClient";q=2;w=2',
    ratelimit: '"PerClient";r=0;t=1',
    'content-type': 'application/problem+json',
    'cache-control': 'no-store',
  });
  expect(JSON.parse(answer.body)).toMatchObject({ status: 429, 'violated-policies': ['PerClient'] });
});

test('the client is the last address of X-Forwarded-For that is not trusted, whatever stands before it', async () => {
  const { ask: send } = await proxy();
  const from = (addresses: string) => ({ ...client, 'x-forwarded-for': addresses });
  for (const forged of ['198.51.100.1', '198.51.100.2']) {
    await send({ path: '/check/api', headers: from(`${forged}, 203.0.113.7, 127.0.0.1`) });
  }
  expect((await send({ path: '/check/api', headers: from('198.51.100.3, 203.0.113.7') })).status).toBe(429);
});

test('a limit applies to its methods and paths only, whatever the spelling of the path', async () => {
  const { ask: send } = await proxy();
  const order = (i: number, uri: string, method: string) =>
    send({
      path: '/check/api',
      headers: {
        'x-forwarded-for': `203.0.113.${i}`,
        'x-forwarded-uri': uri,
        'x-forwarded-method': method,
        'x-account': 'ada',
      },
    });
  expect((await order(1, '/orders?x=1', 'GET')).headers['ratelimit-policy']).not.toContain('PerAccount');
  expect((await order(2, '/ordersx', 'POST')).headers['ratelimit-policy']).not.toContain('PerAccount');
  for (const [i, uri] of ['//orders?x=1', '/a/../%6frders'].entries()) {
    expect((await order(3 + i, uri, 'POST')).headers['ratelimit-policy']).toContain('PerAccount');
  }
  expect((await order(9, '/orders/./12', 'POST')).status).toBe(429);
});

test('a limit without its header does not apply', async () => {
  const { ask: send } = await proxy();
  const headers = { ...client, 'x-forwarded-uri': '/orders', 'x-forwarded-method': 'POST' };
  expect((await send({ path: '/check/api', headers })).headers['ratelimit-policy']).not.toContain('PerAccount');
});

test('nginx is told where to serve an allowed request, and not a denied one', async () => {
  const { ask: send } = await proxy();
  for (let i = 0; i < 4; i++) {
    expect((await send({ path: '/check/nginx?x=1' })).headers).toMatchObject({
      'x-accel-redirect': '@backend',
      'x-ratelimit-limit': '4',
    });
  }
  const denied = await send({ path: '/check/nginx' });
  expect(denied.status).toBe(429);
  expect(denied.headers).not.toHaveProperty('x-accel-redirect');
});

test('a table in shadow mode lets all through without fields, and counts', async () => {
  const { ask: send, service } = await proxy();
  for (let i = 0; i < 6; i++) {
    const { status, headers } = await send({ path: '/check/tried' });
    expect([status, headers['ratelimit']]).toEqual([200, undefined]);
  }
  expect(metricLines(service)).toEqual(
    expect.arrayContaining([
      'sluice_decisions_total{limit="Everyone",outcome="denied",policy="",shadow="true"} 2',
      'sluice_limit_denials_total{limit="Everyone",kind="rate",shadow="true"} 2',
    ]),
  );
});

test('a table without fields sends none, but Retry-After on a denial', async () => {
  const { ask: send } = await proxy();
  const headers = { 'x-forwarded-host': 'Shop.Example' };
  for (let i = 0; i < 3; i++)
    expect((await send({ path: '/check/hosts', headers })).headers).not.toHaveProperty('ratelimit');
  const denied = await send({ path: '/check/hosts', headers: { host: 'shop.example' } });
  expect(denied).toMatchObject({ status: 429, headers: { 'retry-after': '20' } });
});

test('a peer that is not trusted gets 403, whatever it says in its headers', async () => {
  const { ask: send, events } = await proxy({ trustedProxies: ['10.0.0.0/8'] });
  const answer = await send({
    path: '/check/api',
    headers: { ...client, forwarded: 'for=10.0.0.1', 'x-real-ip': '10.0.0.1' },
  });
  expect(answer.status).toBe(403);
  expect(events).toMatchObject([{ type: 'peer-rejected', message: expect.stringContaining('127.0.0.1') }]);
});

test('a proxy that names no client, or no path for a table with paths, is told what to send', async () => {
  const { ask: send, events } = await proxy();
  expect((await send({ path: '/check/api', headers: { 'x-forwarded-uri': '/' } })).status).toBe(500);
  expect(
    (await send({ path: '/check/api', method: 'POST', headers: { 'x-forwarded-for': '203.0.113.7' } })).status,
  ).toBe(500);
  expect(events.map(({ message }) => message)).toEqual([
    expect.stringContaining('sends no X-Forwarded-For'),
    expect.stringContaining('sends no X-Forwarded-Uri'),
  ]);
});

test('an id that is not valid is a 400, and the other limits count the request', async () => {
  const { ask: send } = await proxy();
  const headers = { ...client, 'x-forwarded-uri': '/orders', 'x-account': 'a\tb' };
  expect((await send({ path: '/check/api', method: 'POST', headers })).status).toBe(400);
  expect((await send({ path: '/check/api', headers: client })).headers['ratelimit']).toContain('r=0');
});

test('a cost above the burst is a 429 without Retry-After, takes nothing, and is an event', async () => {
  const overrides = "[{ PerAccount: { count: 1, period: 1m, ids: ['12345678'] } }]";
  const { ask: send, events } = await proxy({ overrides: () => overrides });
  const headers = { ...client, 'x-account': '12345678', 'x-forwarded-uri': '/orders' };
  const { status, headers: fields } = await send({ path: '/check/api', method: 'POST', headers });
  expect([status, fields['retry-after'], fields['ratelimit']]).toEqual([429, undefined, undefined]);
  expect((await send({ path: '/check/api', headers: client })).headers['ratelimit']).toContain('r=1');
  const message =
    'A request was denied that can never pass: its cost is 2, and the burst of its limit "PerAccount" 1. Raise the burst or lower the cost.';
  expect(events).toEqual([{ type: 'cost-over-burst', limit: 'PerAccount', message }]);
});

test('a path without a table is a 404', async () => {
  const { ask: send } = await proxy();
  expect((await send({ path: '/check/other' })).status).toBe(404);
  expect((await send({ path: '/' })).status).toBe(404);
  expect((await send({ path: '/check/__proto__' })).status).toBe(404);
});

test('a HEAD request is decided as any other, and its 429 has no body', async () => {
  const { ask: send } = await proxy();
  for (let i = 0; i < 2; i++) await send({ path: '/check/api', method: 'HEAD', headers: client });
  expect(await send({ path: '/check/api', method: 'HEAD', headers: client })).toMatchObject({ status: 429, body: '' });
});

test('health is 200, and 503 while the service drains', async () => {
  const { ask: send, service } = await proxy();
  expect((await send({ path: '/health' })).status).toBe(200);
  service.drain();
  expect(await send({ path: '/health' })).toMatchObject({ status: 503, headers: { connection: 'close' } });
});

test('a proxy on a unix socket is trusted by that', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-serve-'));
  const service = await openService({
    limits: () => LIMITS,
    tables: () => TABLES,
    trustedProxies: ['unix'],
    log: false,
  });
  const path = join(folder, 'check.sock');
  const servers = await startServers(service, { http: { path } });
  onTestFinished(async () => {
    await servers.close(0);
    await service.close();
    rmSync(folder, { recursive: true });
  });
  const answer = await ask(undefined, { path: '/check/api', headers: client, socketPath: path });
  expect(answer).toMatchObject({ status: 200, headers: { ratelimit: '"PerClient";r=1;t=1' } });
});

test('a request that is not HTTP ends its connection, and no other', async () => {
  const { ask: send, servers } = await proxy();
  const socket = createConnection(servers.ports.http!, '127.0.0.1');
  socket.end('\u0016\u0003\u0001nonsense\r\n\r\n');
  await once(socket.resume(), 'close');
  expect((await send({ path: '/health' })).status).toBe(200);
});

test('the metrics are text for Prometheus, without ids and paths', async () => {
  const { ask: send, servers } = await proxy();
  for (let i = 0; i < 3; i++) await send({ path: '/check/api', headers: client });
  const { body, headers } = await ask(servers.ports.metrics, { path: '/metrics' });
  expect(headers['content-type']).toBe('text/plain; version=0.0.4');
  expect(body).toContain('sluice_serve_answers_total{table="http:api",outcome="allowed"} 2\n');
  expect(body).toContain('sluice_decisions_total{limit="PerClient",outcome="denied",policy="",shadow="false"} 1\n');
  expect(body).toContain('sluice_limit_denials_total{limit="PerClient",kind="rate",shadow="false"} 1\n');
  expect(body).toContain('sluice_serve_rejected_peers_total 0\n');
  expect(body).not.toContain('203.0.113');
  expect((await ask(servers.ports.metrics, { path: '/' })).status).toBe(404);
});
