import type { Part } from '../engine/theorem.ts';
import { bounds } from './bounds.ts';
import { leases } from './leases.ts';
import { rule } from './rule.ts';
import { stores } from './stores.ts';

/** All that is proved. */
export const parts: readonly Part[] = [rule, bounds, stores, leases];
