import { expect, it } from 'vitest';
import { marketOpen } from '../leases/market-open/on-redis.ts';
import { leaseNumbersOf, MARKET_OPEN } from '../leases/market-open/scenario.ts';
import { redisServer } from '../redis/servers/redis-server.ts';
import { running } from '../redis/servers/running.ts';

it('processes with leases on a real Redis exceed the limit of everyone by no more than their bound', async () => {
  const gateways = 2;
  const scenario = {
    ...MARKET_OPEN,
    rise: { ...MARKET_OPEN.rise, perSecond: 1000, toPerSecond: 16_000 },
    // So few that there are denials even when other work leaves the processes a hundredth of their time.
    everyone: { ...MARKET_OPEN.everyone, burst: 100, count: 100 },
  };
  const server = await redisServer();
  const options = { gateways, exponent: 0.8, seed: 1, lastsMs: 1000 };
  const figures = await marketOpen(server, 'leased', scenario, options);
  await running.closeAllBut();
  expect(figures.passedPerSecond).toBeGreaterThan(0);
  expect(figures.passedPerSecond).toBeLessThan(figures.offeredPerSecond);
  expect(figures.overTokens).toBeLessThanOrEqual(leaseNumbersOf(scenario.everyone, gateways).boundTokens);
});
