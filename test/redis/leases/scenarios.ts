import { calm } from './calm.ts';
import { loweredLimit, raisedLimit, reset, strictBeside } from './changes.ts';
import { killedGateway, stoppedGateway } from './deaths.ts';
import { clusterFailover, sentinelFailover } from './failovers.ts';
import { flushed, oldSnapshot } from './lost-data.ts';
import { stoppedRedis } from './outages.ts';
import type { LeaseScenario } from './outcome.ts';

/** All of them, as `npm run trial -- faults` runs them. */
export const LEASE_SCENARIOS: readonly LeaseScenario[] = [
  calm(0.1, 10),
  calm(0.5, 10),
  killedGateway('closed'),
  killedGateway('local'),
  stoppedGateway('closed'),
  stoppedGateway('local'),
  stoppedRedis('closed', 5),
  stoppedRedis('local', 5),
  flushed,
  oldSnapshot,
  sentinelFailover,
  clusterFailover,
  reset,
  raisedLimit,
  strictBeside,
  loweredLimit,
];

/** The short ones, for tests. */
export const SHORT_LEASE_SCENARIOS: readonly LeaseScenario[] = [stoppedRedis('local', 3), flushed, reset];
