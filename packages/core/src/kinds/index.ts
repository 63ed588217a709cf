// The room kinds: a folder for each kind of limits: its options, their checks, and what it does.
import { concurrency } from './concurrency/concurrency.ts';
import type { AnyKind } from '../limits/kind.ts';
import { load } from './load/load-kind.ts';
import { quota } from './quota/quota.ts';
import { rate } from './rate/rate.ts';

/** The kinds of limits. The first is that of a limit which shows no other. */
export const KINDS: readonly AnyKind[] = [rate, quota, concurrency, load];

/** Their types, from which those of limits and overrides are made. */
export type Kinds = typeof rate | typeof quota | typeof concurrency | typeof load;
