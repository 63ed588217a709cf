import { channel, type Channel } from 'node:diagnostics_channel';
import type { StoreSync } from '@sluice/core/store';
import type { SyncCall, SyncReply } from './rules/sync-call.ts';

/**
 * What subscribers of the diagnostics channel `sluice:lease` receive: one sync of a process with leases. Tokens are sums over
 * all buckets of the sync.
 */
export interface LeaseMessage extends StoreSync {
  /** The Redis key of the stream. It is different for each process, and for each hash tag in a cluster. */
  readonly stream: string;
  /** How many buckets it synced. A sync of none keeps the stream alive. */
  readonly buckets: number;
  /** The tokens that it gave back: of leases, and of refunded decisions. */
  readonly returned: number;
  /** The tokens that it wanted to lease. */
  readonly wanted: number;
  /** With `answered`: true if Redis had applied an earlier attempt of this sync, and therefore changed nothing. */
  readonly repeated?: boolean;
  /** With `answered`: true if Redis has lost data since the last sync. The process then restores what it knows. */
  readonly lost?: boolean;
  /** With `failed`: the error. */
  readonly cause?: unknown;
}

/** A sync that has ended. */
export interface EndedSync {
  readonly call: SyncCall;
  /** Undefined if it failed, with the `cause`. */
  readonly reply?: SyncReply;
  readonly cause?: unknown;
  readonly durationMs: number;
}

/** The diagnostics channel `sluice:lease`: a {@link LeaseMessage} for each sync. Nothing is built while nobody receives it. */
export const leaseChannel: Channel = channel('sluice:lease');

export function leaseMessage({ call, reply, cause, durationMs }: EndedSync): LeaseMessage {
  let [charged, returned, wanted] = [0, 0, 0];
  for (const { chargeTicks, returnTicks, wantedTokens, intervalTicks } of call.entries) {
    charged += chargeTicks / intervalTicks;
    returned += returnTicks / intervalTicks;
    wanted += wantedTokens;
  }
  const sums = { stream: call.stream, durationMs, buckets: call.entries.length, charged, returned, wanted };
  if (reply === undefined) return { ...sums, state: 'failed', cause };
  const granted = reply.buckets.reduce((sum, { grantedTokens }) => sum + grantedTokens, 0);
  return { ...sums, state: 'answered', granted, repeated: !reply.fresh, lost: reply.lost };
}
