import { createServer, type RequestListener } from 'node:http';
import { createServer as createHttp2 } from 'node:http2';
import type { AddressInfo, Server } from 'node:net';
import { createServer as createTcp } from 'node:net';
import { once } from 'node:events';
import { memoryStore, type Store } from '@sluice/core';
import { redisStore } from '@sluice/redis';
import { openService, startServers } from '@sluice/serve';
import { expect, onTestFinished, test } from 'vitest';
import { diagnosis } from './diagnosis.ts';
import { written } from './files.ts';
import { run } from './run.ts';

const LIMITS = 'PerClient: { count: 2, period: 1h, idFormat: clientNetwork }\n';
const TABLES =
  'http: { api: { limits: [{ limit: PerClient, id: address }] } }\nenvoy: { api: { rules: [{ descriptor: [remote_address], limit: PerClient }] } }\n';
const LOCAL = { host: '127.0.0.1', port: 0 } as const;

/** The addresses of a service, as `sluice serve` starts it. */
async function service(trustedProxies: readonly string[] = ['loopback'], store: Store = memoryStore()) {
  const [limits = '', tables = ''] = written(LIMITS, TABLES);
  const opened = await openService({ limits, tables, everyMs: false, trustedProxies, store, log: false });
  const servers = await startServers(opened, { http: LOCAL, grpc: LOCAL, metrics: LOCAL });
  onTestFinished(async () => {
    await servers.close(0);
    await opened.close();
  });
  const { http, grpc, metrics } = servers.ports;
  return {
    opened,
    http: `serve:http://127.0.0.1:${http}`,
    grpc: `serve:grpc://127.0.0.1:${grpc}`,
    metrics: `serve:http://127.0.0.1:${metrics}`,
  };
}

async function listening(server: Server): Promise<string> {
  server.listen(LOCAL);
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const answering = async (answer: RequestListener): Promise<string> =>
  `serve:http://${await listening(createServer(answer))}`;

/** Accepts connections, and answers on none. */
const silent = (): Promise<string> => listening(createTcp(() => {}));

async function draining(protocol: 'http' | 'grpc'): Promise<string> {
  const all = await service();
  all.opened.drain();
  return all[protocol];
}

async function withoutItsStore(): Promise<string> {
  const { http } = await service(['loopback'], redisStore({ url: 'redis://127.0.0.1:1', log: false }));
  await fetch(`${http.slice('serve:'.length)}/check/api`, { headers: { 'x-forwarded-for': '203.0.113.7' } });
  return http;
}

const WRONG: Readonly<Record<string, readonly [said: RegExp, make: () => string | Promise<string>]>> = {
  'nothing that listens for HTTP': [/^service: it does not answer: .*ECONNREFUSED/, () => 'serve:http://127.0.0.1:1'],
  'nothing that listens for gRPC': [/^service: it does not answer: .*ECONNREFUSED/, () => 'serve:grpc://127.0.0.1:1'],
  'a server that hangs, by HTTP': [/^service: it does not answer: /, async () => `serve:http://${await silent()}`],
  'a server that hangs, by gRPC': [
    /^service: it does not answer: no answer within 500 ms/,
    async () => `serve:grpc://${await silent()}`,
  ],
  'another web server': [/^health: not that of sluice serve: 200/, () => answering((_, out) => out.end('hello'))],
  'a web server without health': [
    /^health: not that of sluice serve: 404/,
    () => answering((_, out) => out.writeHead(404).end()),
  ],
  'the port of the metrics': [/^health: not that of sluice serve: 404/, async () => (await service()).metrics],
  'a service that ends, by HTTP': [/^health: draining/, () => draining('http')],
  'a service that ends, by gRPC': [/^health: not serving/, () => draining('grpc')],
  'a service whose store is gone': [/^health: by failure policies: the store does not answer/, withoutItsStore],
  'a service that does not trust us, by HTTP': [
    /^checks: this host is not trusted: 403/,
    async () => (await service(['192.0.2.0/24'])).http,
  ],
  'a service that does not trust us, by gRPC': [
    /^health: this host is not trusted/,
    async () => (await service(['192.0.2.0/24'])).grpc,
  ],
  'a service that answers no more, by HTTP': [
    /^service: it does not answer: no answer within 500 ms/,
    () => {
      let answers = 0;
      return answering((request, out) => {
        if (request.url === '/') out.writeHead(404).end('There is no table');
        else if (answers++ < 3) out.end('ok\n');
      });
    },
  ],
  'a server that sends without end, by gRPC': [
    /^service: it does not answer: no answer within 500 ms/,
    async () => {
      const server = createHttp2();
      server.on('stream', (stream) => {
        stream.on('error', () => {});
        stream.respond({ ':status': 200, 'content-type': 'application/grpc' });
        const send = (): unknown => stream.destroyed || stream.write(Buffer.alloc(1000), () => setImmediate(send));
        send();
      });
      return `serve:grpc://${await listening(server)}`;
    },
  ],
  'another server of gRPC': [
    /^health: it answers with the status 12 of gRPC/,
    async () => {
      const server = createHttp2();
      server.on('stream', (stream) => {
        stream.respond(
          { ':status': 200, 'content-type': 'application/grpc', 'grpc-status': '12' },
          { endStream: true },
        );
      });
      return `serve:grpc://${await listening(server)}`;
    },
  ],
};

test.each(Object.entries(WRONG))('sluice doctor names %s', async (_, [said, make]) => {
  const { code, wrong } = await diagnosis(['--store', await make(), '--timeout', '500']);
  expect(wrong).toContainEqual(expect.stringMatching(said));
  expect(code).toBe(1);
});

test.each(['http', 'grpc'] as const)(
  'sluice doctor is silent on a service by %s, and takes no token',
  async (protocol) => {
    const all = await service();
    const before = JSON.stringify(all.opened.metrics());
    expect(await diagnosis(['--store', all[protocol]])).toEqual({ code: 0, wrong: [], notes: [] });
    expect(JSON.stringify(all.opened.metrics())).toBe(before);
  },
);

test.each([
  'serve:http://token@127.0.0.1:9102',
  'serve:http://127.0.0.1:9102/?token=secret',
  'serve:https://127.0.0.1:9102',
  'serve:127.0.0.1:9102',
])('%s is refused with a remedy, and not shown', async (address) => {
  const { code, err } = await run(['doctor', '--store', address]);
  expect({ code, err }).toEqual({
    code: 2,
    err: expect.stringContaining('For example --store serve:http://') as string,
  });
  expect(err).not.toMatch(/token@|secret/);
});
