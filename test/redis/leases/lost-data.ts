import { realDelay } from '../../real-delay.ts';
import { redisServer } from '../servers/redis-server.ts';
import { SLOW } from './limits.ts';
import { loadThrough } from './load-through.ts';
import type { LeaseScenario } from './outcome.ts';

const AROUND_MS = 4000;
const RECOVERED_WITHIN_MS = 3000;

/** FLUSHALL under load: the processes restore what they remember. */
export const flushed: LeaseScenario = {
  name: 'FLUSHALL',
  async run() {
    const server = await redisServer();
    return loadThrough({
      server: { url: server.url },
      limit: SLOW,
      perSecond: 1000,
      beforeMs: AROUND_MS,
      afterMs: AROUND_MS,
      recoveredWithinMs: RECOVERED_WITHIN_MS,
      async fault(load) {
        const viewMs = await load.oldestViewMs();
        await server.call('FLUSHALL');
        // What was charged after the oldest view may be lost.
        return { tokens: load.ratePerMs * viewMs, note: `the oldest view was ${viewMs.toFixed(0)} ms old` };
      },
    });
  },
};

/** Redis dies, and starts with what it had saved two seconds before. */
export const oldSnapshot: LeaseScenario = {
  name: 'Redis restarts with data that is 2 s old',
  async run() {
    const server = await redisServer();
    return loadThrough({
      server: { url: server.url },
      limit: SLOW,
      perSecond: 1000,
      beforeMs: AROUND_MS,
      afterMs: AROUND_MS,
      recoveredWithinMs: RECOVERED_WITHIN_MS,
      async fault(load) {
        await server.call('SAVE');
        await realDelay(2000);
        const viewMs = await load.oldestViewMs();
        await server.kill();
        await server.start();
        return { tokens: load.ratePerMs * viewMs, note: `the oldest view was ${viewMs.toFixed(0)} ms old` };
      },
    });
  },
};
