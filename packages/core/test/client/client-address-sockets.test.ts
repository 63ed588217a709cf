import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { clientAddressFinder, type ClientAddressOptions } from '../../src/client/client-address.ts';
import type { AddressedRequest } from '../../src/client/client-address.ts';
import { NodeRequestExchange } from '../../src/http/node-exchange.ts';

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanups.splice(0).toReversed()) await cleanUp();
});

interface Exchange {
  readonly options: ClientAddressOptions;
  readonly lines: readonly string[];
  /** The unix socket to listen on; left out: TCP on 127.0.0.1. */
  readonly path?: string;
  /** What happens to the connection before the address is asked for. */
  readonly before?: (client: Socket, incoming: IncomingMessage) => void;
}

/** The address that a real server finds in a request with these header lines, or the code of its error. */
async function found({ options, lines, path, before }: Exchange): Promise<string> {
  const find = clientAddressFinder({ ...options, warn: () => undefined });
  const server = await listening(path);
  const client = await connectedTo(server);
  client.write(['GET / HTTP/1.1', 'Host: example.com', ...lines, '', ''].join('\r\n'));
  const [incoming] = (await once(server, 'request')) as [IncomingMessage];
  before?.(client, incoming);
  return addressOrCode(() => find(exchangeOf(incoming)).text);
}

function exchangeOf(incoming: IncomingMessage): AddressedRequest {
  return new RequestExchange(incoming, incoming, undefined);
}

class RequestExchange extends NodeRequestExchange<IncomingMessage> {
  decision = undefined;
  getField = (): undefined => undefined;
  setField = (): void => undefined;
}

async function listening(path: string | undefined): Promise<Server> {
  const server = createServer();
  server.listen(path ?? { port: 0, host: '127.0.0.1' });
  cleanups.push(() => server.closeAllConnections());
  cleanups.push(() => server.close());
  await once(server, 'listening');
  return server;
}

async function connectedTo(server: Server): Promise<Socket> {
  const address = server.address();
  if (address === null) throw new Error('the server does not listen');
  const client = typeof address === 'string' ? connect(address) : connect(address.port, address.address);
  client.on('error', () => undefined);
  cleanups.push(() => client.destroy());
  await once(client, 'connect');
  return client;
}

function addressOrCode(find: () => string): string {
  try {
    return find();
  } catch (error) {
    return (error as { code: string }).code;
  }
}

async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-'));
  cleanups.push(() => rm(folder, { recursive: true }));
  return folder;
}

test('several X-Forwarded-For lines are one list', async () => {
  const lines = ['X-Forwarded-For: 198.51.100.1', 'X-Forwarded-For: 203.0.113.7, 10.0.0.2'];
  expect(await found({ options: { trustedProxies: ['loopback', 'private'] }, lines })).toBe('203.0.113.7');
});

test('a header with a single address that is sent twice is ignored', async () => {
  const options = { trustedProxies: ['loopback'], addressHeader: 'CF-Connecting-IP' };
  const line = 'CF-Connecting-IP: 203.0.113.7';
  expect(await found({ options, lines: [line] })).toBe('203.0.113.7');
  expect(await found({ options, lines: [line, line] })).toBe('127.0.0.1');
});

test.runIf(process.platform !== 'win32')('a proxy on a unix socket is believed when unix is trusted', async () => {
  const lines = ['X-Forwarded-For: 198.51.100.1, 203.0.113.7'];
  const folder = await temporaryFolder();
  const over = (name: string, trustedProxies?: string[]): Promise<string> =>
    found({ options: trustedProxies ? { trustedProxies } : {}, lines, path: join(folder, name) });
  expect(await over('trusted', ['unix'])).toBe('203.0.113.7');
  expect(await over('others-trusted', ['loopback', 'private'])).toBe('ERR_NO_CLIENT_ADDRESS');
  expect(await over('unset')).toBe('ERR_NO_CLIENT_ADDRESS');
});

test.runIf(process.platform !== 'win32')('the peer of a unix socket is known when its connection is over', async () => {
  const find = clientAddressFinder({ trustedProxies: ['unix'], warn: () => undefined });
  const server = await listening(join(await temporaryFolder(), 'socket'));
  const client = await connectedTo(server);
  client.write('GET / HTTP/1.1\r\nHost: example.com\r\nX-Forwarded-For: 203.0.113.7\r\n\r\n');
  const [incoming] = (await once(server, 'request')) as [IncomingMessage];
  expect(exchangeOf(incoming).peer).toBe('unix');
  incoming.socket.destroy();
  expect(find(exchangeOf(incoming)).text).toBe('203.0.113.7');
});

test.each<[string, NonNullable<Exchange['before']>]>([
  ['resets its connection', (client) => client.resetAndDestroy()],
  ['is cut off', (_client, incoming) => incoming.socket.destroy()],
])('a TCP client that %s does not pass for a proxy on a unix socket', async (_case, before) => {
  const exchange = { options: { trustedProxies: ['unix'] }, lines: ['X-Forwarded-For: 203.0.113.7'] };
  expect(await found(exchange)).toBe('127.0.0.1');
  expect(await found({ ...exchange, before })).toBe('ERR_NO_CLIENT_ADDRESS');
});
