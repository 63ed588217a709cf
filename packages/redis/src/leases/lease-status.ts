import { TICKS_PER_MS } from '@sluice/core/store';
import type { RedisStoreStatus, SharedStore } from '../batches/shared-store.ts';
import type { LeasedBuckets } from './rules/leased-buckets.ts';
import type { GatewayCount } from './gateway-count.ts';
import type { LeaseSyncs } from './lease-syncs.ts';
import type { LeaseStream } from './rules/lease-stream.ts';

/** The state of one stream of syncs. */
export interface LeaseStreamStatus {
  /**
   * `up`, `failing` while Redis does not answer its syncs, or `moving` while its slot of a cluster is moved to another node:
   * Redis then decides its buckets at each request.
   */
  readonly state: 'up' | 'failing' | 'moving';
  /** How long ago the last sync that was answered had been sent, in milliseconds; undefined before the first. */
  readonly lastSyncMs: number | undefined;
  /** The buckets that it syncs. */
  readonly keys: number;
}

/** The state of a store with leases. */
export interface LeasedStoreStatus extends RedisStoreStatus {
  readonly leases: {
    readonly streams: readonly LeaseStreamStatus[];
    /** The buckets that this process leases. */
    readonly keys: number;
    /** How many batches have waited for a sync. */
    readonly waits: number;
    /**
     * How many processes have synced leases in the last 90 seconds, with this one; undefined before the first sync. One that
     * ended without `close` counts until then.
     */
    readonly gateways: number | undefined;
    /**
     * How many tokens have lapsed in leases of this process and were not given back, at most: they have refilled since, their
     * bucket was reset or refunded, or the sync that gave them back was late or not answered. Leases of answers that were lost
     * are not known, and not counted.
     */
    readonly forfeited: number;
    /**
     * By how many tokens this process may exceed a limit right now: the most tokens that it let through for one bucket beyond
     * its leases, and that Redis has not counted yet. It is at most the overdraft of the limit, but in an outage with
     * `onFailure: 'local'`, when nothing can be counted. The figures of all processes add up.
     */
    readonly estimatedOvershoot: number;
  };
}

interface StatusParts {
  readonly shared: SharedStore;
  readonly buckets: LeasedBuckets;
  readonly syncs: LeaseSyncs;
  readonly gateways: GatewayCount;
}

/** Returns the state of a store with leases. */
export function statusOf({ shared, buckets, syncs, gateways }: StatusParts): LeasedStoreStatus {
  const { nowTicks, waits } = syncs;
  const streams = buckets.streams.map((stream) => {
    const { answeredSentTicks } = stream;
    const lastSyncMs = answeredSentTicks === -Infinity ? undefined : (nowTicks - answeredSentTicks) / TICKS_PER_MS;
    return { state: stateOf(stream), lastSyncMs, keys: stream.buckets.length } as const;
  });
  return {
    ...shared.status(),
    leases: { streams, keys: buckets.size, waits, gateways: gateways.counted, ...buckets.totals() },
  };
}

function stateOf({ isOpen, isMoving }: LeaseStream): LeaseStreamStatus['state'] {
  if (isOpen) return 'failing';
  return isMoving ? 'moving' : 'up';
}
