import { randomBytes } from 'node:crypto';
import { SluiceError, type Duration } from '@sluice/core';
import { durationTicks, eventSink, oneOf, ThrottledChanges, wholeNumber, type DurationRange } from '@sluice/core/kit';
import { TICKS_PER_MS } from '@sluice/core/store';
import { BucketKeys } from './batches/bucket-keys.ts';
import { connectionChanged } from './batches/events.ts';
import { decideScript } from './batches/script-batch.ts';
import { SharedStore } from './batches/shared-store.ts';
import type { ConnectionChange } from './client/connection-status.ts';
import { isForCluster, openClient } from './open-client.ts';
import { limitStrict, syncsChanged, tooManyGateways, type LeasedStoreEvent } from './leases/lease-events.ts';
import { GatewayCount } from './leases/gateway-count.ts';
import { LeaseLimits } from './leases/lease-limits.ts';
import { LeaseSyncs, MAX_WAIT_MS, paceOf, SYNC_EVERY_MS } from './leases/lease-syncs.ts';
import { ProcessStore, type LeasedStore } from './leases/process-store.ts';
import { LeasedBuckets } from './leases/rules/leased-buckets.ts';
import type { SyncCall, SyncReply } from './leases/rules/sync-call.ts';
import { sendSync } from './leases/sync-script.ts';
import { checkSharedOptions, type CheckedOptions, type RedisStoreOptions } from './redis-store.ts';

/** The options of {@link leasedStore}. Exactly one of `client` and `url` must be given. */
export interface LeasedStoreOptions extends Omit<RedisStoreOptions, 'onEvent'> {
  /**
   * The largest number of processes that share the limits, a whole number from 1 to 10,000. During a roll-out, count the old
   * and the new ones. With more processes than this, the limits are exceeded by more than their `overshoot`.
   */
  readonly gateways: number;
  /**
   * The longest time between two syncs of a bucket in use, from 20 ms to 1 s. Limits with a tight `overshoot` are synced more
   * often. Default: `'200ms'`.
   */
  readonly syncEvery?: Duration | undefined;
  /**
   * What happens to a request that the process can't decide: `'wait'` for Redis, or `'deny'`. With `'deny'`, no request ever
   * waits for Redis, but some are denied that would fit. Default: `'wait'`.
   */
  readonly mode?: 'wait' | 'deny' | undefined;
  /**
   * With the mode `'wait'`, the longest wait of a request, from 1 ms to 1 s. Then it is denied; or if Redis has not
   * answered since it began to wait, the failure policies of its limits decide. Default: `'50ms'`.
   */
  readonly maxWait?: Duration | undefined;
  /**
   * The most buckets that this process leases, a whole number from 1 to 10,000,000. Redis decides the others at each request.
   * Default: 100,000.
   */
  readonly maxKeys?: number | undefined;
  /** Called for each event. Its result is not awaited, and its errors are ignored. */
  readonly onEvent?: ((event: LeasedStoreEvent) => void) | undefined;
}

const NAMES = ['gateways', 'syncEvery', 'mode', 'maxWait', 'maxKeys'] as const;
const SYNC: DurationRange = { minMs: 20, maxMs: 1000, demand: 'from 20ms to 1 second' };
const WAIT: DurationRange = { minMs: 1, maxMs: 1000, demand: 'from 1ms to 1 second' };

/**
 * Creates a store that keeps its buckets in Redis, as `redisStore` does, and decides limits with an `overshoot` in the
 * process: from leases, which Redis has charged in advance. One call in the background syncs up to 250 buckets. All processes
 * together exceed such a limit by at most the part of its burst that its `overshoot` states. Redis decides all other limits
 * at each request, over the same connection.
 *
 * @example
 * const store = leasedStore({ client: new Redis(), gateways: 4 });
 *
 * @throws {SluiceError} `ERR_UNKNOWN_OPTION` for an unknown option; `ERR_OPTION` or `ERR_DURATION` for a wrong value, if not
 * exactly one of `client` and `url` is given, and if the `hashTag` does not choose the slots of a cluster.
 */
export function leasedStore(options: LeasedStoreOptions): LeasedStore {
  const { onEvent, log, rememberDenialsMs, connection, prefix, hashTag, time } = checkSharedOptions(
    'leasedStore',
    options,
    NAMES,
  );
  const { gateways, syncTicks, mode, maxWaitMs, maxKeys } = checkLeases(options);
  const emitUnlogged = eventSink<LeasedStoreEvent>({ onEvent, log: false });
  const emit = eventSink<LeasedStoreEvent>({ onEvent, log, time });
  const onChange = (change: ConnectionChange): void => emitUnlogged(connectionChanged(change));
  const keys = new BucketKeys({ prefix, hashTag });
  // The client is opened last: an error after that would leave a connection that the caller could not close.
  checkSlots(connection, keys);
  const caller = 'leasedStore';
  const client = openClient({ ...connection, caller, script: decideScript, onChange, time });
  const parts = { caller, client, rememberDenialsMs, emit, time, prefix } as const;
  const shared = new SharedStore({ ...parts, hashTag });
  const process = randomBytes(12).toString('base64url');
  const streamKey = (tag: string): string => keys.streamKey(tag, process);
  const buckets = new LeasedBuckets({ maxKeys, syncTicks, pace: paceOf(Math.random()), streamKey });
  const changes = new ThrottledChanges<LeasedStoreEvent>(time, emit);
  const count = new GatewayCount({
    // The number of processes has a slot of its own in a cluster.
    store: new SharedStore({ ...parts, hashTag: undefined }),
    id: process,
    stated: gateways,
    onExcess: (counted) => emit(tooManyGateways(counted, gateways)),
  });
  const onChanged = (cause: unknown): void => changes.add(syncsChanged(cause));
  const send = (call: SyncCall, deadlineMs: number): Promise<SyncReply> => sendSync(client, call, deadlineMs);
  const syncs = new LeaseSyncs({ send, buckets, time, gateways: count, onChange: onChanged });
  const limits = new LeaseLimits({ gateways, syncTicks, mode }, (limit, reason) => emit(limitStrict(limit, reason)));
  const { isCluster } = client;
  return new ProcessStore({ shared, keys, limits, buckets, syncs, gateways: count, maxWaitMs, maxKeys, isCluster });
}

function checkLeases({ gateways, syncEvery, mode = 'wait', maxWait, maxKeys }: LeasedStoreOptions) {
  const remedy = 'It is how many processes share the limits, e.g. gateways: 4.';
  return {
    gateways: wholeNumber('gateways', gateways, { min: 1, max: 10_000, remedy }),
    syncTicks: durationTicks('syncEvery', syncEvery ?? `${SYNC_EVERY_MS}ms`, SYNC),
    mode: oneOf('mode', mode, ['wait', 'deny']),
    maxWaitMs: durationTicks('maxWait', maxWait ?? `${MAX_WAIT_MS}ms`, WAIT) / TICKS_PER_MS,
    maxKeys: wholeNumber('maxKeys', maxKeys ?? 100_000, { min: 1, max: 10_000_000 }),
  };
}

/** A call syncs many buckets, so they must be in one slot. */
function checkSlots({ client }: CheckedOptions['connection'], keys: BucketKeys): void {
  if (client === undefined || !isForCluster(client) || keys.choosesSlots) return;
  throw new SluiceError(
    'ERR_OPTION',
    'In a cluster, `leasedStore` needs a `hashTag` that puts many buckets into one slot, because one call syncs many. ' +
      'For example hashTag: ({ id }) => `b${id.length % 64}`, or better a hash of the id. All processes must use the same.',
  );
}
