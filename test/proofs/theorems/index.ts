import type { Part } from '../engine/theorem.ts';
import { bounds } from './bounds.ts';
import { leases } from './leases.ts';
import { limiter } from './limiter.ts';
import { numbers } from './numbers.ts';
import { processes } from './processes.ts';
import { queue } from './queue.ts';
import { quotaFigures } from './quota-figures.ts';
import { quotaStores } from './quota-stores.ts';
import { quotas } from './quotas.ts';
import { rule } from './rule.ts';
import { slots } from './slots.ts';
import { stores } from './stores.ts';

/** All that is proved. */
export const parts: readonly Part[] = [
  rule,
  bounds,
  queue,
  numbers,
  stores,
  quotas,
  quotaStores,
  quotaFigures,
  leases,
  processes,
  slots,
  limiter,
];
