import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { request } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { startMetrics, type ListenAddress, type OperatorSettings } from '@sluice/serve';

const TOKEN = 'a'.repeat(40);
const LOCAL = { host: '127.0.0.1', port: 0 };

/** A server for metrics that answers operators with what they have asked. */
async function operated(given: Partial<OperatorSettings> = { token: TOKEN }, address: ListenAddress = LOCAL) {
  const calls: unknown[] = [];
  const answer = async (asked: unknown) => {
    calls.push(asked);
    if (asked === 'reject') throw new Error('a secret');
    return { status: 200, body: JSON.stringify({ asked }) };
  };
  const servers = await startMetrics(address, async () => [], { answer, ...given });
  onTestFinished(() => servers.close(0));
  const { port } = (servers.metrics!.address() as AddressInfo | null) ?? { port: undefined };
  const ask = (body: string, fields: Record<string, string> = { authorization: `Bearer ${TOKEN}` }, method = 'POST') =>
    new Promise<{ status: number; text: string }>((resolve, reject) => {
      const target = 'path' in address ? { socketPath: address.path } : { host: '127.0.0.1', port };
      const sent = request({ ...target, path: '/operator', method, headers: fields, agent: false }, (response) => {
        let text = '';
        response.on('data', (chunk) => (text += String(chunk)));
        response.on('end', () => resolve({ status: response.statusCode!, text }));
      });
      sent.on('error', reject).end(body);
    });
  return { ask, calls, port };
}

function socketPath(): string {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-serve-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return join(folder, 'metrics.sock');
}

test('a call with the token is answered, and others learn nothing', async () => {
  const { ask, calls } = await operated();
  expect(await ask('{"what":"look"}')).toEqual({ status: 200, text: '{"asked":{"what":"look"}}' });
  const refused = [
    {},
    { authorization: '' },
    { authorization: TOKEN },
    { authorization: `Basic ${TOKEN}` },
    { authorization: `Bearer ${TOKEN.slice(1)}` },
    { authorization: `Bearer ${TOKEN}a` },
    { authorization: `Bearer ${'b'.repeat(40)}` },
    { authorization: `Bearer ${'é'.repeat(40)}` },
  ];
  for (const fields of refused) {
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    expect(await ask('{"what":"reset"}', fields as Record<string, string>)).toEqual({ status: 401, text: '' });
  }
  expect(await ask('{}', undefined, 'GET')).toEqual({ status: 404, text: '' });
  expect(calls).toHaveLength(1);
});

test('without settings for operators there is nothing, and metrics are as before', async () => {
  const servers = await startMetrics(LOCAL, async () => []);
  onTestFinished(() => servers.close(0));
  const url = `http://127.0.0.1:${servers.ports.metrics}`;
  const asked = await fetch(`${url}/operator`, { method: 'POST', body: '{}' });
  expect([asked.status, await asked.text()]).toEqual([404, '']);
  expect((await fetch(`${url}/metrics`)).status).toBe(200);
});

test('metrics need no token beside operators', async () => {
  const { port } = await operated();
  expect((await fetch(`http://127.0.0.1:${port}/metrics`)).status).toBe(200);
});

test('a body that is too large, is not JSON or makes the answer fail gets a status alone', async () => {
  const { ask, calls } = await operated();
  expect(await ask('x'.repeat(100))).toEqual({ status: 400, text: '' });
  expect(await ask('"reject"')).toEqual({ status: 500, text: '' });
  const tooLarge = await ask(JSON.stringify('x'.repeat(40_000))).catch((error: NodeJS.ErrnoException) => error.code);
  // The rest of the body may meet a closed connection.
  expect([{ status: 413, text: '' }, 'EPIPE', 'ECONNRESET']).toContainEqual(tooLarge);
  expect(calls).toEqual(['reject']);
});

test('a body that does not arrive ends its connection within the time of a request', { timeout: 30_000 }, async () => {
  const { port, calls } = await operated();
  const socket = connect(port!, '127.0.0.1');
  socket.write(`POST /operator HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${TOKEN}\r\nContent-Length: 10\r\n\r\n{`);
  let text = '';
  socket.on('data', (chunk) => (text += String(chunk)));
  await once(socket, 'close');
  expect(text).toMatch(/^HTTP\/1\.1 408 /);
  expect(calls).toEqual([]);
});

test('on a unix socket no token is needed, and no other user can connect', async () => {
  const path = socketPath();
  const before = process.umask(0);
  onTestFinished(() => void process.umask(before));
  const { ask } = await operated({}, { path });
  expect(process.umask()).toBe(0);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(await ask('{}', {})).toMatchObject({ status: 200 });
  const withToken = socketPath();
  const other = await operated({ token: TOKEN }, { path: withToken });
  expect(await other.ask('{}', {})).toMatchObject({ status: 401 });
});

test.each([
  [{}, LOCAL, '`operator.token` must be given at an address that others can reach'],
  [{ token: 'short' }, LOCAL, '`operator.token` must have 32 to 512 visible characters'],
  [{ token: `${'a'.repeat(40)} ` }, { path: '/nowhere' }, '`operator.token` must have 32 to 512 visible characters'],
])('operators with %j at %j are an error, which shows no token', async (given, address, message) => {
  const started = startMetrics(address, async () => [], { answer: async () => ({ status: 200, body: '' }), ...given });
  await expect(started).rejects.toThrow(message);
  await expect(started).rejects.not.toThrow(/short|aaaa/);
});
