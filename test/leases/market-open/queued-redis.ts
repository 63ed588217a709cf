import type { SyncCall, SyncReply } from '../../../packages/redis/src/leases/rules/sync-call.ts';
import { SimulatedNetwork } from '../network.ts';
import { Random } from '../random.ts';
import type { RedisCosts } from './scenario.ts';

const TICKS_PER_MICRO = 16;

/** A call that was served. */
export interface Served {
  readonly arrivedTicks: number;
  readonly delayTicks: number;
  readonly serviceTicks: number;
}

interface StrictCall<T> {
  readonly decisions: number;
  /** A call that is served later takes nothing, and nobody waits for its answer. */
  readonly deadlineTicks: number;
  readonly inRedis: () => T;
  readonly answered: (reply: T) => void;
}

/** Redis as it is: it serves one call after another, and each takes it some time. */
export class QueuedRedis extends SimulatedNetwork {
  readonly #costs: RedisCosts;
  readonly #oneWayTicks: number;
  readonly #served: (served: Served) => void;
  #freeAtTicks = 0;
  #syncMicros = 0;

  constructor(costs: RedisCosts, oneWayMicros: number, served: (served: Served) => void) {
    const quality = { delayTicks: TICKS_PER_MICRO, lateTicks: TICKS_PER_MICRO, lateShare: 0, lostShare: 0 };
    super(new Random(1), quality, () => undefined);
    this.#costs = costs;
    this.#oneWayTicks = oneWayMicros * TICKS_PER_MICRO;
    this.#served = served;
  }

  override sync(
    call: SyncCall,
    options: { refunds: ReadonlyMap<string, number>; answered: (reply: SyncReply) => void },
  ): void {
    this.#syncMicros = this.#costs.callMicros + call.entries.length * this.#costs.bucketMicros;
    super.sync(call, options);
  }

  /** Sends a sync. */
  override roundTrip<T>(inRedis: () => T, answered: (reply: T) => void): void {
    const micros = this.#syncMicros;
    this.#arrive(() => this.#serve(micros, () => this.#answer(inRedis(), answered)));
  }

  /** Sends the decisions of a gateway without leases. */
  decide<T>({ decisions, deadlineTicks, inRedis, answered }: StrictCall<T>): void {
    this.#arrive(() => {
      const isLate = Math.max(this.nowTicks, this.#freeAtTicks) > deadlineTicks;
      const micros = this.#costs.callMicros + (isLate ? 0 : decisions * this.#costs.decisionMicros);
      this.#serve(micros, () => {
        if (!isLate) this.#answer(inRedis(), answered);
      });
    });
  }

  #arrive(run: () => void): void {
    this.at(this.nowTicks + this.#oneWayTicks, run);
  }

  #serve(micros: number, then: () => void): void {
    const arrivedTicks = this.nowTicks;
    const serviceTicks = Math.ceil(micros) * TICKS_PER_MICRO;
    this.#freeAtTicks = Math.max(arrivedTicks, this.#freeAtTicks) + serviceTicks;
    this.#served({ arrivedTicks, delayTicks: this.#freeAtTicks - arrivedTicks, serviceTicks });
    this.at(this.#freeAtTicks, then);
  }

  #answer<T>(reply: T, answered: (reply: T) => void): void {
    this.at(this.nowTicks + this.#oneWayTicks, () => answered(reply));
  }
}
