// What processes without leases do to the buckets of a scene, on a real server and in the model of Redis.
import { passes, type StoreTransaction } from '@sluice/core/store';
import type { SteeredStore } from '../../packages/redis/test/support/steered-store.ts';
import { differenceOf } from './difference.ts';
import type { RedisModel } from './redis-model.ts';
import type { LeasedNumbers, StrictStep } from './sync-scenes.ts';
import { callsOf } from '@sluice/core/testing';

const TICKS_PER_MICRO = 16;
const LIMIT = 'Leased';

interface Taken {
  readonly place: number;
  readonly incrementTicks: number;
  readonly tatAfterSpendTicks: number;
}

/** The Redis key of a bucket. */
export function keyOfBucket(store: SteeredStore, place: number): string {
  return store.keyOf({ limit: LIMIT, id: String(place) });
}

export class StrictCalls {
  readonly #store: SteeredStore;
  readonly #model: RedisModel;
  readonly #numbers: readonly [LeasedNumbers, LeasedNumbers];
  /** The last transaction that was taken. */
  #taken: Taken | undefined;

  constructor(store: SteeredStore, model: RedisModel, numbers: readonly [LeasedNumbers, LeasedNumbers]) {
    this.#store = store;
    this.#model = model;
    this.#numbers = numbers;
  }

  /** Returns how the levels of the server and of the model differ; undefined if they do not. */
  async run({ call, mode, key, numbers, share }: StrictStep): Promise<string | undefined> {
    const { burst, intervalTicks, fitTicks, capTicks } = this.#numbers[numbers];
    const ticks = { incrementTicks: Math.floor(share * burst) * intervalTicks, fitTicks, capTicks, mode };
    const transaction: StoreTransaction = { limit: LIMIT, id: String(key), ...ticks };
    const onKey = { key: keyOfBucket(this.#store, key), ...ticks };
    if (call === 'reset') {
      this.#model.reset(onKey.key);
      await callsOf(this.#store).reset([transaction]);
      return undefined;
    }
    if (call === 'spend') {
      const { levelsTicks } = await callsOf(this.#store).spend([transaction]);
      this.#noteTaken(transaction, key, levelsTicks[0]!);
      return differenceOf(call, levelsTicks, this.#model.spend([onKey]));
    }
    if (call === 'refund of a decision') return this.#refundTaken(transaction);
    const { levelsTicks } = await callsOf(this.#store)[call]([transaction]);
    return differenceOf(call, levelsTicks[0], this.#model[call](onKey));
  }

  #noteTaken(transaction: StoreTransaction, place: number, levelTicks: number): void {
    const { incrementTicks, mode } = transaction;
    if (mode !== 'check-and-spend' || !passes([transaction], [levelTicks])) return;
    const nowTicks = this.#store.clockMicros * TICKS_PER_MICRO;
    this.#taken = { place, incrementTicks, tatAfterSpendTicks: nowTicks + levelTicks + incrementTicks };
  }

  async #refundTaken({ capTicks }: StoreTransaction): Promise<string | undefined> {
    if (this.#taken === undefined) return undefined;
    const { place, ...taken } = this.#taken;
    this.#taken = undefined;
    const refund = { limit: LIMIT, id: String(place), capTicks, ...taken };
    const { levelsTicks } = await callsOf(this.#store).refund([refund]);
    const key = keyOfBucket(this.#store, place);
    return differenceOf('refund of a decision', levelsTicks[0], this.#model.refund({ key, capTicks, ...taken }));
  }
}
