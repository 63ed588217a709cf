import { realDelay } from '../../real-delay.ts';
import { redisCluster } from '../servers/redis-cluster.ts';
import { redisServer } from '../servers/redis-server.ts';
import { sentinelSet } from '../servers/sentinel-set.ts';
import { until } from '../servers/until.ts';
import { loadThrough } from './load-through.ts';
import type { SlotScenario } from './outcome.ts';

const EXPIRY_MS = 2000;
const AROUND_MS = 2000;

/** Redis does not answer for 5 s: longer than an expiry. */
export const stopped: SlotScenario = {
  name: 'SIGSTOP of Redis for 5 s',
  async run() {
    const server = await redisServer();
    return loadThrough({
      server: { url: server.url },
      servers: () => [server],
      processes: 4,
      concurrency: 40,
      expiryMs: EXPIRY_MS,
      ids: ['one'],
      aroundMs: AROUND_MS,
      async fault() {
        server.freeze();
        await realDelay(5000);
        server.thaw();
      },
    });
  },
};

/** Sentinel replaces a primary that died. */
export const sentinelFailover: SlotScenario = {
  name: 'Sentinel replaces a dead primary',
  async run() {
    const set = await sentinelSet();
    return loadThrough({
      server: { sentinels: [...set.addresses], name: set.name },
      servers: async () => [await set.primary()],
      processes: 3,
      concurrency: 30,
      expiryMs: EXPIRY_MS,
      ids: ['one'],
      aroundMs: AROUND_MS,
      async fault() {
        const old = await set.primary();
        await old.kill();
        await until('there is a new primary', async () => (await set.primary()) !== old);
        await until('it is one', async () => {
          const [role] = await (await set.primary()).call<string[]>('ROLE');
          return role === 'master';
        });
        // Clients look for it several times a second.
        await realDelay(1000);
      },
    });
  },
};

/** A primary of a cluster dies, and its replica takes its place. */
export const clusterFailover: SlotScenario = {
  name: 'a primary of a cluster dies',
  async run() {
    const cluster = await redisCluster();
    const ids = Array.from({ length: 6 }, (_, index) => `id-${index}`);
    return loadThrough({
      server: { nodes: [...cluster.addresses] },
      servers: async () => {
        const alive = cluster.nodes.filter((node) => node.isRunning);
        const roles = await Promise.all(alive.map((node) => node.call<string[]>('ROLE')));
        return alive.filter((_, index) => roles[index]![0] === 'master');
      },
      processes: 3,
      concurrency: 12,
      expiryMs: EXPIRY_MS,
      ids,
      // Clients find the new primary a few seconds later.
      aroundMs: 3 * AROUND_MS,
      async fault() {
        const old = await cluster.primaryOf(await cluster.slotOf(`sluice:InFlight:${ids[0]}@slots`));
        await old.kill();
        await until('all slots are served again', () => cluster.isWhole(2));
        await realDelay(1000);
      },
    });
  },
};
