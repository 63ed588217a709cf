// The room limits: what a limit is: its kind, its numbers and levels, and how a request uses it.
import type { Awaitable } from '../async/awaitable.ts';
import type { Key } from '../keys/key.ts';
import type { Numbers } from '../rule/rate.ts';
import type { Levels } from './levels.ts';
import type { LimitKind } from './limit-kind.ts';
import type { LimitParts } from './limit-parts.ts';
import type { Treatment } from './treatment.ts';

/** A validated limit, with its numbers in ticks. */
export interface Limit<Request = unknown> extends Omit<LimitParts, 'holding' | 'overshoot'> {
  readonly name: string;
  readonly kind: LimitKind;
  readonly key: Key<Request>;
  /** The levels of ids with these numbers. */
  readonly levels: Levels;
  /** The levels of its buckets in stores: above `levels` where other limits may charge them further. */
  readonly stored: Levels;
  readonly disabled: boolean;
  readonly treatment: Treatment;
}

/** Limits by name. */
export type LimitMap<Request = never> = ReadonlyMap<string, Limit<Request>>;

/** The numbers that apply to an id, in ticks, or `'unlimited'` or `'blocked'`. */
export type OverrideRate = Numbers | 'unlimited' | 'blocked';

/**
 * Returns the numbers that apply to an id of a limit: those of an override, or the limit's own.
 *
 * @param request - The framework's request; `undefined` without HTTP.
 */
export type RateLookup = (limit: Limit<never>, id: string, request: unknown) => Awaitable<OverrideRate>;
