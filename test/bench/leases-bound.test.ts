import { expect, it } from 'vitest';
import { BoundProcesses } from '../leases/bound/bound-run.ts';
import { redisServer } from '../redis/servers/redis-server.ts';
import { running } from '../redis/servers/running.ts';
import { tcpProxy } from '../redis/servers/tcp-proxy.ts';

it('processes with leases exceed a limit by no more than their bound behind a slow network', async () => {
  const proxy = await tcpProxy(await redisServer());
  proxy.delay(20);
  const processes = await BoundProcesses.start(proxy.url);
  const { exceeded, bound, admittedShare } = await processes.run(1500);
  await running.closeAllBut();
  expect(exceeded).toBeLessThanOrEqual(bound);
  expect(admittedShare).toBeGreaterThan(0.1);
});
