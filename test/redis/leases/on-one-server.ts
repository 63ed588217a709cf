import { redisServer, type RedisServer } from '../servers/redis-server.ts';
import { SLOW } from './limits.ts';
import { loadThrough, type Added, type LoadThrough, type RunningLoad } from './load-through.ts';
import type { LeaseScenario } from './outcome.ts';

const USUAL = { limit: SLOW, perSecond: 1000, beforeMs: 3000, afterMs: 4000, recoveredWithinMs: 3000 };

interface Scenario extends Partial<Omit<LoadThrough, 'server' | 'fault'>> {
  readonly name: string;
  readonly fault: (load: RunningLoad, server: RedisServer) => Promise<Added>;
}

/** A scenario on a redis-server of its own: on {@link SLOW}, with more requests than it lets through, unless given. */
export function onOneServer({ name, fault, ...load }: Scenario): LeaseScenario {
  return {
    name,
    async run() {
      const server = await redisServer();
      return loadThrough({
        ...USUAL,
        ...load,
        server: { url: server.url },
        fault: (running) => fault(running, server),
      });
    },
  };
}
