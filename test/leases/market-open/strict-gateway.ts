import { passes, type StoreTransaction } from '@sluice/core/store';
import { Breaker } from '../../../packages/core/src/failure/breaker.ts';
import { DenialCache } from '../../../packages/redis/src/batches/denial-cache.ts';
import type { ModelTransaction } from '../redis-model.ts';
import type { QueuedRedis } from './queued-redis.ts';

const TICKS_PER_MICRO = 16;
const REMEMBER_DENIALS_MS = 1000;

export type StrictOutcome = 'passed' | 'denied' | 'failed';

interface Asked {
  readonly batch: readonly ModelTransaction[];
  readonly settle: (outcome: StrictOutcome) => void;
}

interface StrictGatewayOptions {
  readonly redis: QueuedRedis;
  readonly turnMicros: number;
  readonly deadlineMs: number;
}

/**
 * A process that asks Redis for each decision, with the breaker and the remembered denials of the product. The requests
 * of one turn of its event loop share a call.
 */
export class StrictGateway {
  readonly #redis: QueuedRedis;
  readonly #turnTicks: number;
  readonly #deadlineTicks: number;
  readonly #breaker: Breaker;
  readonly #denials: DenialCache;
  #turn: Asked[] = [];

  constructor({ redis, turnMicros, deadlineMs }: StrictGatewayOptions) {
    this.#redis = redis;
    this.#turnTicks = turnMicros * TICKS_PER_MICRO;
    this.#deadlineTicks = deadlineMs * 1000 * TICKS_PER_MICRO;
    this.#breaker = new Breaker(deadlineMs);
    const time = { nowMicros: () => this.#nowMicros } as ConstructorParameters<typeof DenialCache>[1];
    this.#denials = new DenialCache(REMEMBER_DENIALS_MS, time);
  }

  request(batch: readonly ModelTransaction[], settle: (outcome: StrictOutcome) => void): void {
    if (this.#denials.findDenial(transactionsOf(batch), keysOf(batch)) !== undefined) return settle('denied');
    if (!this.#breaker.admits(this.#nowMicros)) return settle('failed');
    if (this.#turn.length === 0) this.#redis.at(this.#redis.nowTicks + this.#turnTicks, () => this.#send());
    this.#turn.push({ batch, settle });
  }

  get #nowMicros(): number {
    return Math.floor(this.#redis.nowTicks / TICKS_PER_MICRO);
  }

  #send(): void {
    const asked = this.#turn;
    this.#turn = [];
    const { phase } = this.#breaker;
    const sentMicros = this.#nowMicros;
    const deadlineTicks = this.#redis.nowTicks + this.#deadlineTicks;
    let isOver = false;
    this.#redis.decide({
      decisions: asked.length,
      deadlineTicks,
      inRedis: () => ({
        nowTicks: this.#redis.nowTicks,
        levels: asked.map(({ batch }) => this.#redis.redis.spend(batch)),
      }),
      answered: ({ nowTicks, levels }) => {
        if (isOver) return;
        isOver = true;
        for (const [i, each] of asked.entries()) this.#answer(each, { nowTicks, levelsTicks: levels[i]! }, sentMicros);
      },
    });
    this.#redis.at(deadlineTicks, () => {
      if (isOver) return;
      isOver = true;
      for (const { settle } of asked) {
        this.#breaker.failed(phase, this.#nowMicros);
        settle('failed');
      }
    });
  }

  #answer(
    { batch, settle }: Asked,
    reading: { readonly nowTicks: number; readonly levelsTicks: readonly number[] },
    sentMicros: number,
  ): void {
    this.#breaker.answered(this.#nowMicros);
    const transactions = transactionsOf(batch);
    const keys = keysOf(batch);
    if (passes(transactions, reading.levelsTicks)) {
      this.#denials.forget(keys);
      settle('passed');
    } else {
      this.#denials.add({ batch: transactions, keys }, reading, sentMicros);
      settle('denied');
    }
  }
}

/** The cache and the rule read only the ticks and the mode of a transaction. */
function transactionsOf(batch: readonly ModelTransaction[]): readonly StoreTransaction[] {
  return batch as readonly unknown[] as readonly StoreTransaction[];
}

function keysOf(batch: readonly ModelTransaction[]): readonly string[] {
  return batch.map(({ key }) => key);
}
