import { joined } from '../harness/joined.mjs';
import { coldIds } from '../leases/cold.mjs';
import { decisions } from '../leases/decisions.mjs';
import { loads } from '../leases/loads.mjs';
import { syncsInRedis } from '../leases/syncs.mjs';

/** @type {import('../harness/part.ts').Part} */
export const part = {
  title: 'leases: what a decision of leasedStore costs the process, and what its syncs cost Redis',
  rounds: 5,
  turns: ({ quick }) => (quick ? 1 : 8),
  // The number of scripts depends on which ids are due together.
  counts: { cases: ['cold ids', '1 key', '250 keys'], figures: { writes: 0.05, wireBytes: 0.15, scripts: 1 } },
  ...joined([decisions, coldIds, loads, syncsInRedis]),
};
