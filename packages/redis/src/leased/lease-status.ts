import { TICKS_PER_MS } from '@sluice/core/kit';
import type { SharedStore } from '../batches/shared-store.ts';
import type { LeasedBuckets } from '../leases/leased-buckets.ts';
import type { GatewayCount } from './gateway-count.ts';
import type { LeaseSyncs } from './lease-syncs.ts';
import type { LeaseStream } from '../leases/lease-stream.ts';
import type { LeasedStoreStatus, LeaseStreamStatus } from './leased-store-type.ts';

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
