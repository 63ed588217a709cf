import { reasonOf } from '../checks/errors.ts';
import type { LimiterEvent } from '../events/event.ts';

const POLICIES =
  'each limit follows its onFailure policy ' +
  '(local: this process decides alone; closed: requests get a 503; open: requests pass)';

const READY = 'To start only when the store can answer, wait for limiter.ready().';

/** A call failed, and the store has never answered one: at the first request a newcomer sees why. */
export function storeNotReady(cause: unknown): LimiterEvent {
  const message =
    `The store has not answered yet (${reasonOf(cause)}). Until it does, ${POLICIES}. ` +
    `Check that the store's server is running, its address and the network to it. ${READY}`;
  return { type: 'warning', message, once: true };
}

/** An outage begins with failed calls, or with a report of the store. */
export function storeFailing(cause: unknown, probeIntervalMs: number): LimiterEvent {
  const message =
    `The store is failing (${reasonOf(cause)}). Until it answers, ${POLICIES}, and one decision every ` +
    `${probeIntervalMs} ms tries the store. Check the store's server and the network to it.`;
  return { type: 'store-failing', cause, message };
}

/** A store reports at the start that it can't answer, before any call: a newcomer sees why, and what to do. */
export function storeFailingAtStart(cause: unknown, probeIntervalMs: number): LimiterEvent {
  const event = storeFailing(cause, probeIntervalMs);
  return { ...event, message: `${event.message} ${READY}` };
}

/** An outage is over. */
export function storeRecovered(outageMs: number, decidedByPolicy: number): LimiterEvent {
  const message =
    `The store answers again after ${rounded(outageMs)}, and decides again. ` +
    `During the outage, failure policies made ${counted(decidedByPolicy, 'decision')}.`;
  return { type: 'store-recovered', outageMs, message };
}

function rounded(ms: number): string {
  return ms <= 10_000 ? `${Math.ceil(ms)} ms` : `${Math.round(ms / 1000)} s`;
}

/** One bucket is broken, the store is not. */
export function bucketBroken(count: number, cause: unknown): LimiterEvent {
  const message =
    `The store can't use a bucket (${reasonOf(cause)}). The onFailure policies made ` +
    `${counted(count, 'decision')} instead. If something else writes to the store under its key, stop that and reset the bucket.`;
  return { type: 'bucket-broken', count, cause, message };
}

/** Charges could not be taken. */
export function chargeLost(count: number, cause: unknown): LimiterEvent {
  const message =
    `${lost(count, 'charge')} because the store is failing (${reasonOf(cause)}). These clients have more tokens ` +
    `left than they should. With onFailure: 'local', this process takes the charges during an outage.`;
  return { type: 'charge-lost', count, cause, message };
}

/** Refunds could not be given. */
export function refundLost(count: number, cause: unknown): LimiterEvent {
  const message =
    `${lost(count, 'refund')} because the store is failing (${reasonOf(cause)}). These clients have fewer tokens ` +
    `left than they should until their buckets are full again. To fill one at once, call limiter.reset().`;
  return { type: 'refund-lost', count, cause, message };
}

function counted(count: number, noun: string): string {
  return count === 1 ? `1 ${noun}` : `${count} ${noun}s`;
}

function lost(count: number, noun: string): string {
  return `${counted(count, noun)} ${count === 1 ? 'was' : 'were'} lost`;
}
