import { killedHolder } from './deaths.ts';
import { flushed } from './lost-data.ts';
import { lostReplies } from './lost-replies.ts';
import { clusterFailover, sentinelFailover, stopped } from './outages.ts';
import type { SlotScenario } from './outcome.ts';
import { abortedRequests } from './requests.ts';

/** All of them, as `npm run trial -- faults` runs them. */
export const SLOT_SCENARIOS: readonly SlotScenario[] = [
  killedHolder(2),
  stopped,
  flushed(3000),
  sentinelFailover,
  clusterFailover,
  lostReplies,
  abortedRequests(20_000),
];

/** The short ones, for tests. */
export const SHORT_SLOT_SCENARIOS: readonly SlotScenario[] = [killedHolder(2), flushed(1500), lostReplies];
