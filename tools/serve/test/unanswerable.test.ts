import { createServer } from 'node:http';
import { once } from 'node:events';
import { createConnection, type AddressInfo } from 'node:net';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { until } from '../../../test/redis/servers/until.ts';
import { dropsLines } from '../../../test/service/drops-lines.ts';
import { rawRequest, statusOf } from '../../../test/service/raw-request.ts';
import { metricLines, served, type Served } from '../../../test/service/served.ts';

const LIMITS = 'Posts: { count: 3, period: 24h, idFormat: clientNetwork }';
const TABLES = 'http: { api: { limits: [{ limit: Posts, id: address, methods: [POST] }] } }';

/** How many lines a request has beside those that a test adds. */
const OWN_LINES = 3;

/** A question of a proxy that writes its own fields behind those of the client. */
function question(fields: readonly string[], method = 'GET'): Buffer {
  const own = ['Connection: close', 'X-Forwarded-Method: POST', 'X-Forwarded-For: 203.0.113.7'];
  const all = [`${method} /check/api HTTP/1.1`, ...fields, ...own];
  return Buffer.from(`${all.join('\r\n')}\r\n\r\n`, 'latin1');
}

function lines(count: number): readonly string[] {
  return Array.from({ length: count }, (_, i) => (i === 0 ? 'Host: x' : `x-f${i}: a`));
}

async function usedUp(): Promise<Served & { readonly ask: (bytes: Buffer) => Promise<string> }> {
  const all = await served(LIMITS, TABLES);
  const ask = (bytes: Buffer): Promise<string> => rawRequest(all.servers.ports.http!, bytes);
  for (let i = 0; i < 3; i++) expect(statusOf(await ask(question(lines(1))))).toBe(200);
  expect(statusOf(await ask(question(lines(1))))).toBe(429);
  return { ...all, ask };
}

function problemOf(answer: string): unknown {
  expect(answer).toContain('\r\nContent-Type: application/problem+json\r\n');
  return JSON.parse(answer.slice(answer.indexOf('\r\n\r\n')));
}

test('a request with as many lines as the server keeps is denied, as those of the proxy may be missing', async () => {
  const { ask, events, service } = await usedUp();
  for (const count of [1000, 1001, 1032, 1100, 5000]) {
    const answer = await ask(question(lines(count - OWN_LINES)));
    expect([count, problemOf(answer)]).toEqual([count, expect.objectContaining({ status: 431 })]);
  }
  expect(statusOf(await ask(question(lines(999 - OWN_LINES))))).toBe(429);
  expect(events.map(({ message }) => message)).toContainEqual(expect.stringContaining('sluice serve --print-fields'));
  // Where Node answers 431 by itself, the service sees only the request with 1,000 lines.
  const seen = (await dropsLines()) ? 5 : 1;
  expect(metricLines(service)).toContain(`sluice_serve_answers_total{table="http:api",outcome="invalid"} ${seen}`);
});

test.each([
  [20, 19, 429],
  [20, 20, 431],
  [20, 200, 431],
  [2000, 1100, 429],
  [0, 5000, 429],
])('a server that keeps %d lines answers %d by %d, as those that it keeps count', async (kept, count, status) => {
  const { service } = await usedUp();
  const server = createServer({ maxHeaderSize: 1_000_000 }, (incoming, outgoing) =>
    service.handleCheck(incoming, outgoing),
  );
  server.maxHeadersCount = kept;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const answer = await rawRequest((server.address() as AddressInfo).port, question(lines(count - OWN_LINES)));
  expect(statusOf(answer)).toBe(status);
});

test.each([17_000, 33_000, 500_000, 1_050_000])(
  'fields of %d bytes do not keep a request from a decision',
  async (size) => {
    const { ask } = await usedUp();
    expect(statusOf(await ask(question(['Host: x', `x-large: ${'a'.repeat(size)}`])))).toBe(429);
  },
);

test('a head that is too large, or malformed, is answered with problem details, which the proxy can read', async () => {
  const { ask } = await usedUp();
  const statusBy = async (bytes: Buffer): Promise<unknown> => problemOf(await ask(bytes));
  const large = question(['Host: x', `x-large: ${'a'.repeat(4_000_000)}`]);
  expect(await statusBy(large)).toMatchObject({ status: 431 });
  expect(await statusBy(question(['Host: x', 'x-a: \u0001']))).toMatchObject({ status: 400 });
  expect(await statusBy(question(['nonsense']))).toMatchObject({ status: 400 });
  expect(await statusBy(question(['Host: x'], 'OTHER'))).toMatchObject({ status: 400 });
  expect(await statusBy(Buffer.from('CONNECT x:80 HTTP/1.1\r\nHost: x\r\n\r\n'))).toMatchObject({ status: 400 });
});

test('a head that never ends, and a client that never leaves, are ended', async () => {
  const { servers } = await usedUp();
  servers.http!.headersTimeout = 100;
  const port = servers.ports.http!;
  const half = rawRequest(port, question(['Host: x']).subarray(0, -6));
  const stays = createConnection({ port, host: '127.0.0.1', allowHalfOpen: true });
  stays.write(question(['nonsense']));
  await once(stays.resume(), 'end');
  expect(problemOf(await half)).toMatchObject({ status: 408 });
  const open = promisify(servers.http!.getConnections.bind(servers.http));
  await until('no connection is left', async () => (await open()) === 0);
  stays.destroy();
});

test('a client that resets its connection after an answer to CONNECT ends no other', async () => {
  const { servers, ask } = await usedUp();
  const socket = createConnection(servers.ports.http!, '127.0.0.1');
  socket.write('CONNECT x:80 HTTP/1.1\r\nHost: x\r\n\r\n');
  await once(socket, 'data');
  socket.resetAndDestroy();
  const open = promisify(servers.http!.getConnections.bind(servers.http));
  await until('no connection is left', async () => (await open()) === 0);
  expect(statusOf(await ask(question(lines(1))))).toBe(429);
});

test('a target that is too long to be read is denied', async () => {
  const { ask } = await usedUp();
  const withUri = (bytes: number): Buffer => question(['Host: x', `X-Forwarded-Uri: /${'a'.repeat(bytes - 1)}`]);
  expect(statusOf(await ask(withUri(65_536)))).toBe(429);
  expect(problemOf(await ask(withUri(65_537)))).toMatchObject({ status: 414 });
});

test('an expectation that is not known is no answer of its own', async () => {
  const { ask } = await usedUp();
  expect(statusOf(await ask(question(['Host: x', 'Expect: other'])))).toBe(429);
});

test('a path without a table names some of the tables, however many there are', async () => {
  const tables = Array.from({ length: 100 }, (_, i) => [`t${i}`, { limits: [{ limit: 'Posts', id: 'address' }] }]);
  const { servers, events } = await served(LIMITS, JSON.stringify({ http: Object.fromEntries(tables) }));
  await rawRequest(
    servers.ports.http!,
    Buffer.from('GET /check/other HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n'),
  );
  expect(events[0]!.message).toMatch(/^.{10,900} and 70 more\.$/);
});
