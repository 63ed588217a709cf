import { reasonOf } from '../errors.ts';
import type { LimiterEvent } from '../events.ts';

/** An outage begins. */
export function storeFailing(cause: unknown, probeIntervalMs: number): LimiterEvent {
  const message =
    `The store can't answer (${reasonOf(cause)}). Until it does, each limit follows its onFailure policy ` +
    `(local: decided by this process alone; closed: refused with 503; open: let through), and one decision every ` +
    `${probeIntervalMs} ms tries the store. Look at the store's server and at the network to it.`;
  return { type: 'store-failing', cause, message };
}

/** An outage is over. */
export function storeRecovered(outageMs: number, decidedByPolicy: number): LimiterEvent {
  const message =
    `The store answers again after ${outageMs} ms and decides again. ` +
    `In the meantime the failure policies decided ${decidedByPolicy} times.`;
  return { type: 'store-recovered', outageMs, message };
}

/** One bucket is broken, the store is not. */
export function bucketBroken(count: number, cause: unknown): LimiterEvent {
  const message =
    `The store holds a bucket that it can't read (${reasonOf(cause)}); ${times(count)} its limit's onFailure policy ` +
    `was followed instead. Look at who else writes to the store under this key, and reset the bucket.`;
  return { type: 'bucket-broken', count, cause, message };
}

/** Charges could not be taken. */
export function chargeLost(count: number, cause: unknown): LimiterEvent {
  const message =
    `The store can't answer (${reasonOf(cause)}): ${count} ${count === 1 ? 'charge was' : 'charges were'} lost, so ` +
    `these clients have more tokens left than they should. Under onFailure: 'local' this process takes them.`;
  return { type: 'charge-lost', count, cause, message };
}

/** Refunds could not be given. */
export function refundLost(count: number, cause: unknown): LimiterEvent {
  const message =
    `The store can't answer (${reasonOf(cause)}): ${count} ${count === 1 ? 'refund was' : 'refunds were'} lost, so ` +
    `these clients have fewer tokens left than they should until their buckets have filled by themselves.`;
  return { type: 'refund-lost', count, cause, message };
}

function times(count: number): string {
  return count === 1 ? 'once' : `${count} times`;
}
