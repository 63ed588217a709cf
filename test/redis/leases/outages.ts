import { realDelay } from '../../real-delay.ts';
import type { SpendLimit } from '../processes/spend.mjs';
import { SLOW } from './limits.ts';
import { PROCESSES } from './load-through.ts';
import { onOneServer } from './on-one-server.ts';
import type { LeaseScenario } from './outcome.ts';

/** Redis does not answer for a while. */
export function stoppedRedis(onFailure: SpendLimit['onFailure'], seconds: number): LeaseScenario {
  return onOneServer({
    name: `SIGSTOP of Redis for ${seconds} s, ${onFailure}`,
    limit: { ...SLOW, onFailure },
    async fault(_load, server) {
      server.freeze();
      await realDelay(1000 * seconds);
      server.thaw();
      return { tokens: onFailure === 'local' ? PROCESSES : 0 };
    },
  });
}
