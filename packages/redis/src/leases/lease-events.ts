import { reasonOf } from '@sluice/core/kit';
import type { RedisStoreEvent } from '../batches/events.ts';

/** An event of a store with leases, emitted to `onEvent`. `message` describes what happened and what to do. */
export type LeasedStoreEvent =
  | RedisStoreEvent
  /**
   * A limit with an `overshoot`, or a part of its ids, is decided by Redis. Emitted once for each limit, at its first such
   * request. If that follows from the limit's own numbers, the limiter has warned of it already, and this is not emitted.
   */
  | {
      readonly type: 'limit-strict';
      readonly limit: string;
      readonly reason: string;
      readonly message: string;
      readonly once: true;
    }
  /**
   * Redis does not answer the syncs of leases: the process spends those that it has, then failure policies decide. Or it
   * answers again. At most four changes in ten seconds are reported, and of the others the last one.
   */
  | { readonly type: 'sync-failing'; readonly cause: unknown; readonly message: string }
  | { readonly type: 'sync-recovered'; readonly message: string }
  /**
   * For more than 90 seconds, more processes have synced leases than `gateways` states. Emitted at most once an hour.
   */
  | {
      readonly type: 'too-many-gateways';
      /** How many processes there are. */
      readonly counted: number;
      /** The option `gateways`. */
      readonly stated: number;
      readonly message: string;
    };

export function limitStrict(limit: string, reason: string): LeasedStoreEvent {
  const message = `Redis decides limit "${limit}" at each request, because ${reason}.`;
  return { type: 'limit-strict', limit, reason, message, once: true };
}

/** @param cause - Undefined when Redis answers again. */
export function syncsChanged(cause: unknown): LeasedStoreEvent {
  if (cause === undefined) return { type: 'sync-recovered', message: 'Redis answers the syncs of leases again.' };
  const message =
    `Redis does not answer the syncs of leases (${reasonOf(cause)}). ` +
    'This process spends the leases that it has, then each limit follows its onFailure policy.';
  return { type: 'sync-failing', cause, message };
}

export function tooManyGateways(counted: number, stated: number): LeasedStoreEvent {
  const message =
    `${counted} processes use leases of these limits, but \`gateways\` states ${stated}. The limits may be exceeded by the ` +
    'overdraft of each further process. Give `gateways` the largest number of processes, during a roll-out of old and new ones.';
  return { type: 'too-many-gateways', counted, stated, message };
}
