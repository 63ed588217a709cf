import { realDelay } from '../../real-delay.ts';
import type { SpendLimit } from '../processes/spend.mjs';
import { redisServer } from '../servers/redis-server.ts';
import { SLOW } from './limits.ts';
import { loadThrough, PROCESSES } from './load-through.ts';
import type { LeaseScenario } from './outcome.ts';

const BEFORE_MS = 3000;
const AFTER_MS = 4000;
const RECOVERED_WITHIN_MS = 3000;

/** Redis does not answer for a while. */
export function stoppedRedis(onFailure: SpendLimit['onFailure'], seconds: number): LeaseScenario {
  return {
    name: `SIGSTOP of Redis for ${seconds} s, ${onFailure}`,
    async run() {
      const server = await redisServer();
      return loadThrough({
        server: { url: server.url },
        limit: { ...SLOW, onFailure },
        perSecond: 1000,
        beforeMs: BEFORE_MS,
        afterMs: AFTER_MS,
        recoveredWithinMs: RECOVERED_WITHIN_MS,
        async fault() {
          server.freeze();
          await realDelay(1000 * seconds);
          server.thaw();
          return { tokens: onFailure === 'local' ? PROCESSES : 0 };
        },
      });
    },
  };
}
