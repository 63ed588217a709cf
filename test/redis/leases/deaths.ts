import { realDelay } from '../../real-delay.ts';
import type { SpendLimit } from '../processes/spend.mjs';
import { SLOW } from './limits.ts';
import { onOneServer } from './on-one-server.ts';
import type { LeaseScenario } from './outcome.ts';

/** One of the processes is killed, and another one started in its place. */
export function killedGateway(onFailure: SpendLimit['onFailure']): LeaseScenario {
  return onOneServer({
    name: `kill -9 of a process, ${onFailure}`,
    limit: { ...SLOW, onFailure },
    async fault(load) {
      await load.gateways[0]!.kill();
      await load.replace(0);
      return { tokens: load.overdraft };
    },
  });
}

/** One of the processes does not run for 2 s: longer than its leases. All requests of that time wait for it. */
export function stoppedGateway(onFailure: SpendLimit['onFailure']): LeaseScenario {
  return onOneServer({
    name: `SIGSTOP of a process for 2 s, ${onFailure}`,
    limit: { ...SLOW, onFailure },
    async fault({ gateways }) {
      gateways[0]!.freeze();
      await realDelay(2000);
      gateways[0]!.thaw();
      return { tokens: 0 };
    },
  });
}
