import { accountId, createLimiter } from '@sluice/core';
import { redisStore } from '@sluice/redis';
import { openService, startServers } from '@sluice/serve';
import { expect, onTestFinished, test } from 'vitest';
import { redisServer } from '../../../test/redis/servers/redis-server.ts';
import { running } from '../../../test/redis/servers/running.ts';

const LIMITS = 'PerClient: { count: 5, period: 1h, idFormat: clientNetwork }\n';
const TABLES = 'http: { api: { limits: [{ limit: PerClient, id: address }] } }\n';

test('a service that has just started denies a client that is blocked from its first request on', async () => {
  const { url } = await redisServer();
  const operator = createLimiter({
    limits: { PerClient: { key: accountId(), count: 5, period: '1h' } },
    store: redisStore({ url }),
  });
  running.add({ close: () => operator.close({ store: true }) });
  await operator.ready();
  await operator.block([
    { limit: 'PerClient', id: '203.0.113.7', forMs: 60_000, reason: 'scrapes the catalogue', by: 'mia' },
  ]);

  const service = await openService({
    limits: () => LIMITS,
    tables: () => TABLES,
    store: redisStore({ url }),
    log: false,
  });
  const servers = await startServers(service, { http: { host: '127.0.0.1', port: 0 } });
  onTestFinished(async () => {
    await servers.close(0);
    await service.close();
  });
  const ask = (client: string): Promise<Response> =>
    fetch(`http://127.0.0.1:${servers.ports.http}/check/api`, { headers: { 'x-forwarded-for': client } });

  expect((await ask('203.0.113.7')).status).toBe(403);
  expect((await ask('203.0.113.8')).status).toBe(200);
});
