// Processes with leases as their callers see them: a limiter each, on the store of the product, a model of Redis, and a time
// that moves whenever anybody reads it. So no two readings of one decision are of the same moment.
import { accountId, createLimiter, type LimitDefinition } from '@sluice/core';
import {
  decidedReading,
  TICKS_PER_MICRO,
  TICKS_PER_MS,
  type StoreOperation,
  type StoreReading,
  type DecidingOperation,
} from '@sluice/core/store';
import { FakeTime } from '@sluice/core/testing';
import { BucketKeys } from '../../packages/redis/src/batches/bucket-keys.ts';
import type { SharedStore } from '../../packages/redis/src/batches/shared-store.ts';
import type { GatewayCount } from '../../packages/redis/src/leases/gateway-count.ts';
import { LeaseLimits } from '../../packages/redis/src/leases/lease-limits.ts';
import { LeaseSyncs, MAX_WAIT_MS, paceOf, SYNC_EVERY_MS } from '../../packages/redis/src/leases/lease-syncs.ts';
import { ProcessStore } from '../../packages/redis/src/leases/process-store.ts';
import { LeasedBuckets } from '../../packages/redis/src/leases/rules/leased-buckets.ts';
import type { SyncCall, SyncReply } from '../../packages/redis/src/leases/rules/sync-call.ts';
import type { Random } from './random.ts';
import { RedisModel } from './redis-model.ts';

/** The clock of Redis at the start: most of a year after its origin. */
const SERVER_START_TICKS = 28e9 * TICKS_PER_MS;
const DEADLINE_MS = 1000;
const KEYS = new BucketKeys({ prefix: 'test', hashTag: undefined });

/** A time that moves by up to so many microseconds at each reading, as code takes time between two of them. */
class MovingTime extends FakeTime {
  readonly #random: Random;
  readonly #mostMicros: number;

  constructor(random: Random, mostMicros: number) {
    super(0);
    this.#random = random;
    this.#mostMicros = mostMicros;
  }

  override nowMicros(): number {
    this.set(this.nowMs + this.#random.whole(0, this.#mostMicros) / 1000);
    return super.nowMicros();
  }
}

/** A leased limit of so many tokens a second. */
export interface SecondLimit {
  readonly burst: number;
  readonly count: number;
  readonly overshoot: number;
}

/** Limits, and the processes that share them. */
export interface GatewaysOptions {
  readonly limits: Readonly<Record<string, SecondLimit>>;
  readonly gateways: number;
  /** At least 2: one way takes at least a millisecond. */
  readonly roundTripMs: number;
  /** The longest time between two readings of a clock, in microseconds. */
  readonly stepMicros: number;
}

/** The limiters of several processes, one id, and one Redis. */
export class LimiterGateways {
  readonly time: MovingTime;
  readonly limiters: readonly ReturnType<typeof createLimiter>[];
  readonly #redis: RedisModel;
  readonly #options: GatewaysOptions;
  readonly #syncs: LeaseSyncs[] = [];
  #leases = 0;

  constructor(options: GatewaysOptions, random: Random) {
    this.#options = options;
    this.time = new MovingTime(random, options.stepMicros);
    this.#redis = new RedisModel(() => this.#serverTicks);
    this.limiters = Array.from({ length: options.gateways }, (_, i) => this.#newLimiter(i, random));
  }

  /** Empties the bucket of a limit for an id. */
  empty(limit: string, id: string): void {
    const incrementTicks = this.#options.limits[limit]!.burst * this.intervalTicks(limit);
    this.#redis.charge({ key: keyOf(limit, id), incrementTicks, capTicks: incrementTicks });
  }

  /** The TAT of a bucket in Redis. */
  tatTicks(limit: string, id: string): number {
    return this.#redis.bucket(keyOf(limit, id))!.tatTicks;
  }

  /** Ends all processes, which report what they have let through. */
  async close(): Promise<void> {
    let isOpen = true;
    const all = Promise.all(this.limiters.map((limiter) => limiter.close({ store: true })));
    void all.finally(() => (isOpen = false));
    // oxlint-disable-next-line no-await-in-loop, no-unmodified-loop-condition -- until their last syncs are answered
    while (isOpen) await this.time.pass(1);
  }

  /** How many requests have waited for a sync. */
  get waits(): number {
    return this.#syncs.reduce((sum, { waits }) => sum + waits, 0);
  }

  /** How many leases Redis has granted: to requests that waited, and ahead of others. */
  get leases(): number {
    return this.#leases;
  }

  /** The emission interval of a limit, whose tokens come back in a second. */
  intervalTicks(limit: string): number {
    return Math.floor((1000 * TICKS_PER_MS) / this.#options.limits[limit]!.count);
  }

  get #serverTicks(): number {
    return SERVER_START_TICKS + Math.round(this.time.nowMs * 1000) * TICKS_PER_MICRO;
  }

  #newLimiter(index: number, random: Random): ReturnType<typeof createLimiter> {
    const { limits, gateways } = this.#options;
    const defined = Object.entries(limits).map(([name, limit]): [string, LimitDefinition] => {
      return [name, { ...limit, period: '1s', key: accountId(), onFailure: 'closed' }];
    });
    return createLimiter({
      limits: Object.fromEntries(defined),
      store: this.#newStore(index, random),
      failure: { deadlineMs: DEADLINE_MS, gateways },
      time: this.time,
      log: false,
    });
  }

  #newStore(index: number, random: Random): ProcessStore {
    const { gateways } = this.#options;
    const { time } = this;
    const syncTicks = SYNC_EVERY_MS * TICKS_PER_MS;
    const buckets = new LeasedBuckets({
      maxKeys: 1000,
      syncTicks,
      pace: paceOf(random.next()),
      streamKey: () => `seq:${index}`,
    });
    const count = { synced: () => undefined, close: async () => undefined } as unknown as GatewayCount;
    const syncs = new LeaseSyncs({
      send: (call) => this.#roundTrip(() => this.#sync(call)),
      buckets,
      time,
      gateways: count,
      onChange: () => undefined,
    });
    this.#syncs.push(syncs);
    return new ProcessStore({
      shared: this.#shared(),
      keys: KEYS,
      limits: new LeaseLimits({ gateways, syncTicks, mode: 'wait' }, () => undefined),
      buckets,
      syncs,
      gateways: count,
      maxWaitMs: MAX_WAIT_MS,
      maxKeys: 1000,
      isCluster: false,
    });
  }

  /** What a process with leases leaves to Redis: a `spend` or a `check` of one batch. */
  #shared(): SharedStore {
    return {
      run: (operation: StoreOperation) => this.#roundTrip(() => this.#decide(operation as DecidingOperation)),
      watch: () => () => undefined,
      close: async () => undefined,
    } as unknown as SharedStore;
  }

  #sync(call: SyncCall): SyncReply {
    const reply = this.#redis.sync(call);
    this.#leases += reply.buckets.filter(({ grantedTokens }) => grantedTokens > 0).length;
    return reply;
  }

  #decide({ kind, alternatives }: DecidingOperation): StoreReading {
    const batch = alternatives[0]!.map((each) => {
      const mode = kind === 'check' ? 'check-only' : each.mode;
      return { ...each, key: keyOf(each.limit, each.id), mode };
    });
    return decidedReading(alternatives, { nowTicks: this.#serverTicks, levelsTicks: this.#redis.spend(batch) });
  }

  async #roundTrip<T>(inRedis: () => T): Promise<T> {
    const oneWayMs = this.#options.roundTripMs / 2;
    await this.#delay(oneWayMs);
    const reply = inRedis();
    await this.#delay(oneWayMs);
    return reply;
  }

  #delay(ms: number): Promise<void> {
    return new Promise((resolve) => void this.time.alarm(ms, resolve));
  }
}

function keyOf(limit: string, id: string): string {
  return KEYS.keyOf({ limit, id });
}
