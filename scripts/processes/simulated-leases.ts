import type { Awaitable, Time } from '../../packages/core/src/index.ts';
import { TICKS_PER_MICRO, TICKS_PER_MS } from '../../packages/core/src/store.ts';
import { LeaseSyncs, MAX_WAIT_MS, paceOf, SYNC_EVERY_MS } from '../../packages/redis/src/leases/lease-syncs.ts';
import { decide, type LeaseTransaction } from '../../packages/redis/src/leases/rules/decide.ts';
import {
  isLeased,
  leaseNumbers,
  type LeaseNumbers,
  type NotLeased,
} from '../../packages/redis/src/leases/rules/lease-numbers.ts';
import type { LeasedBucket, LeaseTerms } from '../../packages/redis/src/leases/rules/leased-bucket.ts';
import { LeasedBuckets } from '../../packages/redis/src/leases/rules/leased-buckets.ts';
import type { SyncCall, SyncReply } from '../../packages/redis/src/leases/rules/sync-call.ts';
import { RedisData } from './redis-data.ts';
import { applySync, spendExactly } from './sync-model.ts';

/** The clock of Redis minus that of the processes: about a year, because its TATs are above 0. */
const SERVER_AHEAD_TICKS = 365 * 86_400_000 * TICKS_PER_MS;
/** Above the number of clients of any simulation. */
const MAX_KEYS = 10_000_000;
/** Counts no processes: the simulation does not need their number. */
const NOT_COUNTED = { synced: (): void => undefined, close: async (): Promise<void> => undefined };

/** A limit, and the processes that share it. */
export interface SimulatedLeasesOptions {
  /** The burst of the limit, in tokens. */
  readonly burst: number;
  /** The emission interval of the limit, in ticks of 1/16 µs. */
  readonly intervalTicks: number;
  /** How far the processes together may exceed the limit, as a part of the burst: above 0, at most 1. */
  readonly overshoot: number;
  /** How many processes there are. */
  readonly processes: number;
  /** The clock of all processes. */
  readonly time: Time;
  /** After how many milliseconds Redis answers a sync, at least 1. */
  readonly roundTripMs: number;
  /** Whether a process does not reach Redis at this moment. Default: all always do. */
  readonly isCutOff?: ((process: number) => boolean) | undefined;
}

interface Process {
  readonly buckets: LeasedBuckets;
  readonly syncs: LeaseSyncs;
}

/** Creates processes that decide one limit from leases, or returns why it can't be leased. */
export function simulateLeases(options: SimulatedLeasesOptions): SimulatedProcesses | NotLeased {
  const { burst, intervalTicks, overshoot, processes } = options;
  const syncTicks = SYNC_EVERY_MS * TICKS_PER_MS;
  const numbers = leaseNumbers({ burst, intervalTicks, overshoot, gateways: processes, syncTicks });
  return isLeased(numbers) ? new SimulatedProcesses(numbers, options) : numbers;
}

/**
 * Processes that decide one limit from leases, by the code of `leasedStore` with its defaults, and a model of the Redis that
 * they share: it loses nothing, and answers each sync of a process that reaches it after the same time. Those that do not
 * reach it deny when their leases are spent, as with `onFailure: 'closed'`.
 */
export class SimulatedProcesses {
  readonly #time: Time;
  readonly #terms: LeaseTerms;
  readonly #roundTripMs: number;
  readonly #isCutOff: (process: number) => boolean;
  readonly #redis: RedisData;
  readonly #processes: readonly Process[];

  constructor(numbers: LeaseNumbers, { time, roundTripMs, isCutOff }: SimulatedLeasesOptions) {
    this.#time = time;
    this.#isCutOff = isCutOff ?? (() => false);
    this.#terms = { ...numbers, waits: true, onFailure: 'closed' };
    this.#roundTripMs = roundTripMs;
    this.#redis = new RedisData(() => SERVER_AHEAD_TICKS + this.#nowTicks);
    this.#processes = Array.from({ length: numbers.gateways }, (_, i) => this.#start(i));
  }

  /**
   * Decides a request in one of the processes.
   *
   * @param process - From 0 up to, not including, the number of processes.
   * @param id - Whose bucket it is.
   * @param tokens - A whole number up to the burst.
   * @returns Whether it passes: a promise if the process waits for Redis, at most 50 ms.
   */
  spend(process: number, id: string, tokens: number): Awaitable<boolean> {
    const { buckets, syncs } = this.#processes[process]!;
    const nowTicks = this.#nowTicks;
    const name = { limit: '', id };
    const bucket = buckets.find(name) ?? buckets.add({ ...name, key: id, tag: '' }, this.#terms, nowTicks)!;
    bucket.usedAtTicks = nowTicks;
    const mode = 'check-and-spend';
    const batch: readonly LeaseTransaction[] = [
      { bucket, tokens, mode, spent: undefined, waitTicks: 0, levelTicks: 0 },
    ];
    const { outcome } = decide(batch, nowTicks);
    if (outcome === 'waits') {
      return new Promise((resolve) => {
        syncs.wait({ batch, nowTicks, maxWaitTicks: MAX_WAIT_MS * TICKS_PER_MS }, (decision) => {
          resolve(
            decision.outcome === 'exact' ? this.#spendInRedis(process, bucket, tokens) : decision.outcome === 'passed',
          );
        });
      });
    }
    if (outcome === 'exact') return this.#spendInRedis(process, bucket, tokens);
    syncs.afterUse(batch, nowTicks);
    return outcome === 'passed';
  }

  #spendInRedis(process: number, bucket: LeasedBucket, tokens: number): Promise<boolean> {
    bucket.touch(this.#nowTicks);
    const passes = !this.#isCutOff(process) && spendExactly(this.#redis, bucket.key, { ...this.#terms, tokens });
    return new Promise((resolve) => this.#time.alarm(this.#roundTripMs, () => resolve(passes)));
  }

  get #nowTicks(): number {
    return this.#time.nowMicros() * TICKS_PER_MICRO;
  }

  #start(index: number): Process {
    const { syncTicks, gateways } = this.#terms;
    const buckets = new LeasedBuckets({
      maxKeys: MAX_KEYS,
      syncTicks,
      pace: paceOf(index / gateways),
      streamKey: () => `:seq:${index}`,
    });
    const syncs = new LeaseSyncs({
      send: (call, deadlineMs) => this.#sync(index, call, deadlineMs),
      buckets,
      time: this.#time,
      gateways: NOT_COUNTED,
      onChange: () => undefined,
    });
    return { buckets, syncs };
  }

  #sync(process: number, call: SyncCall, deadlineMs: number): Promise<SyncReply> {
    if (this.#isCutOff(process)) {
      return new Promise((_, reject) => this.#time.alarm(deadlineMs, () => reject(new Error('No answer of Redis'))));
    }
    const reply = applySync(this.#redis, call);
    return new Promise((resolve) => this.#time.alarm(this.#roundTripMs, () => resolve(reply)));
  }
}
