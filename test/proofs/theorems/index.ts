import type { Part } from '../engine/theorem.ts';
import { bounds } from './bounds.ts';
import { leases } from './leases.ts';
import { limiter } from './limiter.ts';
import { numbers } from './numbers.ts';
import { processes } from './processes.ts';
import { queue } from './queue.ts';
import { rule } from './rule.ts';
import { slots } from './slots.ts';
import { stores } from './stores.ts';

/** All that is proved. */
export const parts: readonly Part[] = [rule, bounds, queue, numbers, stores, leases, processes, slots, limiter];
