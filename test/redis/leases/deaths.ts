import { realDelay } from '../../real-delay.ts';
import type { SpendLimit } from '../processes/spend.mjs';
import { redisServer } from '../servers/redis-server.ts';
import { SLOW } from './limits.ts';
import { loadThrough } from './load-through.ts';
import type { LeaseScenario } from './outcome.ts';

const BEFORE_MS = 3000;
const AFTER_MS = 4000;
const RECOVERED_WITHIN_MS = 3000;

/** One of the processes is killed, and another one started in its place. */
export function killedGateway(onFailure: SpendLimit['onFailure']): LeaseScenario {
  return {
    name: `kill -9 of a process, ${onFailure}`,
    async run() {
      const { url } = await redisServer();
      return loadThrough({
        server: { url },
        limit: { ...SLOW, onFailure },
        perSecond: 1000,
        beforeMs: BEFORE_MS,
        afterMs: AFTER_MS,
        recoveredWithinMs: RECOVERED_WITHIN_MS,
        async fault(load) {
          await load.gateways[0]!.kill();
          await load.replace(0);
          return { tokens: load.overdraft };
        },
      });
    },
  };
}

/** One of the processes does not run for 2 s: longer than its leases. All requests of that time wait for it. */
export function stoppedGateway(onFailure: SpendLimit['onFailure']): LeaseScenario {
  return {
    name: `SIGSTOP of a process for 2 s, ${onFailure}`,
    async run() {
      const { url } = await redisServer();
      return loadThrough({
        server: { url },
        limit: { ...SLOW, onFailure },
        perSecond: 1000,
        beforeMs: BEFORE_MS,
        afterMs: AFTER_MS,
        recoveredWithinMs: RECOVERED_WITHIN_MS,
        async fault({ gateways }) {
          gateways[0]!.freeze();
          await realDelay(2000);
          gateways[0]!.thaw();
          return { tokens: 0 };
        },
      });
    },
  };
}
