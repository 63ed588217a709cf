import { redisCluster } from '../servers/redis-cluster.ts';
import { sentinelSet } from '../servers/sentinel-set.ts';
import { until } from '../servers/until.ts';
import { SLOW } from './limits.ts';
import { loadThrough } from './load-through.ts';
import { lostNow } from './lost-data.ts';
import type { LeaseScenario } from './outcome.ts';

const BEFORE_MS = 4000;
/** Clients find the new primary a few seconds later. */
const AFTER_MS = 10_000;
const RECOVERED_WITHIN_MS = 8000;

/** Sentinel replaces a primary that died. */
export const sentinelFailover: LeaseScenario = {
  name: 'Sentinel replaces a dead primary',
  async run() {
    const set = await sentinelSet();
    return loadThrough({
      server: { sentinels: [...set.addresses], name: set.name },
      limit: SLOW,
      perSecond: 1000,
      beforeMs: BEFORE_MS,
      afterMs: AFTER_MS,
      recoveredWithinMs: RECOVERED_WITHIN_MS,
      async fault(load) {
        const old = await set.primary();
        const lost = await lostNow(load);
        await old.kill();
        await until('there is a new primary', async () => (await set.primary()) !== old);
        await until('it is one', async () => {
          const [role] = await (await set.primary()).call<string[]>('ROLE');
          return role === 'master';
        });
        return lost;
      },
    });
  },
};

/** A primary of a cluster dies, and its replica takes its place. */
export const clusterFailover: LeaseScenario = {
  name: 'a primary of a cluster dies',
  async run() {
    const cluster = await redisCluster();
    const tags = 3;
    const ids = Array.from({ length: 2 * tags }, (_, index) => `id-${index}`);
    return loadThrough({
      server: { nodes: [...cluster.addresses] },
      limit: { ...SLOW, burst: 500 },
      ids,
      tags,
      perSecond: 300,
      beforeMs: BEFORE_MS,
      afterMs: AFTER_MS,
      recoveredWithinMs: RECOVERED_WITHIN_MS,
      async fault(load) {
        const old = await cluster.primaryOf(await cluster.slotOf('{b0}'));
        const lost = await lostNow(load);
        await old.kill();
        await until('all slots are served again', () => cluster.isWhole(2));
        return lost;
      },
    });
  },
};
