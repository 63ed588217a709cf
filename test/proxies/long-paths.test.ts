import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { until } from '../redis/servers/until.ts';
import { rawRequest, statusOf } from '../service/raw-request.ts';
import { PROXIES } from './proxies.ts';
import { RawBackend } from './raw-backend.ts';
import { Site } from './site.ts';

const LIMITS = 'Orders: { burst: 1, count: 1, period: 24h, idFormat: clientNetwork }\n';
const RULE = '{ limit: Orders, id: address, paths: [/orders, /orders/*] }';
const TABLES = `
http:
  nginx: { accelRedirect: '@backend', limits: [${RULE}] }
  api: { limits: [${RULE}] }
`;
/** The longest path that each proxy passes on, less a little. */
const LONGEST: Readonly<Record<string, number>> = { nginx: 7900, HAProxy: 14_000, Caddy: 60_000 };
const CLIENTS = 6;
const ORDERS = 20;

describe.each(PROXIES)('$name', (proxy) => {
  let site: Site;
  let backend: RawBackend;
  const ask = async (target: string): Promise<number | undefined> =>
    statusOf(
      await rawRequest(site.port, Buffer.from(`GET ${target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`)),
    );
  beforeAll(async () => {
    backend = await RawBackend.start();
    // Long enough for a busy machine, and too short for paths that are read in quadratic time.
    site = await Site.start(proxy, { backend: backend.port, limits: LIMITS, tables: TABLES, changes: [['30s', '1s']] });
    await until('the limit is used up', async () => (await ask('/orders')) === 429);
  });
  afterAll(async () => {
    await site.close();
    await backend.close();
  });

  test('paths that are as long as the proxy takes do not keep the service from denying', async () => {
    const paths = ['/', '.', '%20', '%2e%2f', ';'].map(
      (part) => `/s${part.repeat(LONGEST[proxy.name]! / part.length)}x/`,
    );
    const flood = new AbortController();
    const clients = Array.from({ length: CLIENTS }, async (_, i) => {
      // oxlint-disable-next-line no-await-in-loop -- one request after the other
      for (let n = i; !flood.signal.aborted; n++) await ask(paths[n % paths.length]!);
    });
    const passed: number[] = [];
    for (let n = 0; n < ORDERS; n++) {
      // A machine that is busy may answer too late once. oxlint-disable-next-line no-await-in-loop -- one after the other
      if ((await ask('/orders')) === 200 && (await ask('/orders')) === 200) passed.push(n);
    }
    flood.abort();
    await Promise.all(clients);
    expect(passed).toEqual([]);
    expect(site.service.isRunning).toBe(true);
  });
});
