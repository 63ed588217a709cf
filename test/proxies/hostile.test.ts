import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { until } from '../redis/servers/until.ts';
import { hostileRequests, type HostileRequest } from './hostile-requests.ts';
import { PROXIES } from './proxies.ts';
import { RawBackend } from './raw-backend.ts';
import { rawRequest, statusOf } from '../service/raw-request.ts';
import { Site } from './site.ts';

const LIMITS = `
PerClient: { burst: 3, count: 3, period: 24h, idFormat: clientNetwork }
PerAccount: { burst: 3, count: 3, period: 24h, idFormat: accountId }
`;
const RULES = `
    limits:
      - { limit: PerClient, id: address, methods: [POST] }
      - { limit: PerAccount, id: { header: X-Account-Id }, methods: [PUT] }
`;
const TABLES = `
http:
  nginx:
    accelRedirect: '@backend'${RULES}  api:${RULES}`;

/** The limit by address is used up for POST, and that by account for PUT. */
const METHODS = ['POST', 'PUT'];
const AT_ONCE = 24;

describe.each(PROXIES)('$name', (proxy) => {
  let site: Site;
  let backend: RawBackend;
  beforeAll(async () => {
    backend = await RawBackend.start();
    site = await Site.start(proxy, {
      backend: backend.port,
      limits: LIMITS,
      tables: TABLES,
      changes: proxy.knowsAccount,
    });
    await until('limits hold', async () => (await ask('POST')) === 429);
    await until('limits of accounts hold', async () => (await ask('PUT')) === 429);
  });
  afterAll(async () => {
    await site.close();
    await backend.close();
  });

  const ask = async (method: string, fields: readonly string[] = []): Promise<number | undefined> => {
    const lines = ['Host: x', 'Connection: close', 'Content-Length: 0', ...fields];
    return statusOf(await rawRequest(site.port, Buffer.from(`${method} / HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`)));
  };

  test.each(METHODS)('nothing that a client sends passes a limit that is used up: %s', async (method) => {
    const passed: string[] = [];
    const attack = async ({ name, bytes, leaving }: HostileRequest): Promise<void> => {
      const answer = await rawRequest(site.port, bytes, leaving);
      if (answer.includes('reached')) passed.push(name);
    };
    const before = backend.reached.length;
    const requests = hostileRequests(method);
    for (let i = 0; i < requests.length; i += AT_ONCE) {
      // oxlint-disable-next-line no-await-in-loop -- some at once
      await Promise.all(requests.slice(i, i + AT_ONCE).map(attack));
    }
    expect(passed).toEqual([]);
    expect(backend.reached.slice(before)).toEqual([]);
    expect([site.proxy.isRunning, site.service.isRunning]).toEqual([true, true]);
    expect(await Promise.all(METHODS.map((each) => ask(each)))).toEqual([429, 429]);
  });

  test('many and large fields that the proxy itself takes do not keep a request from being allowed', async () => {
    for (const [count, size] of proxy.takes) {
      const fields = Array.from({ length: count }, (_, i) => `x-f${i}: ${'a'.repeat(size)}`);
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      expect([count, size, await ask('GET', fields)]).toEqual([count, size, 200]);
    }
  });
});
