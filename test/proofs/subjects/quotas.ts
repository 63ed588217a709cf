/**
 * Decisions about quotas, with periods that a theorem chooses, from what a limiter asks of a store to the figures. If they
 * move, only this file changes.
 *
 * @module
 */
import { transactionOf as askOf } from '../../../packages/core/src/decision/batch.ts';
import { bucketStates } from '../../../packages/core/src/decision/decide.ts';
import { Decided } from '../../../packages/core/src/decision/decided.ts';
import type { Decision } from '../../../packages/core/src/decision/decision.ts';
import type { BucketState } from '../../../packages/core/src/decision/result.ts';
import { Transaction } from '../../../packages/core/src/decision/transaction.ts';
import { accountId } from '../../../packages/core/src/index.ts';
import { QUOTA, type Quota } from '../../../packages/core/src/kinds/quota/quota-kind.ts';
import { QuotaPart } from '../../../packages/core/src/kinds/quota/quota-warnings.ts';
import { quota } from '../../../packages/core/src/quota.ts';
import { usageOf, type Usage } from '../../../packages/core/src/limiter/usage.ts';
import { defineLimitSet, type LimitSet } from '../../../packages/core/src/definitions/limit-set.ts';
import { OpenGate } from '../../../packages/core/src/failure/open-gate.ts';
import { levelsFrom } from '../../../packages/core/src/limits/levels.ts';
import { Use } from '../../../packages/core/src/limits/use.ts';
import { Treatment } from '../../../packages/core/src/limits/treatment.ts';
import { countingRate, rateOf, type Numbers } from '../../../packages/core/src/rule/rate.ts';
import type { CalendarPeriod } from '../../../packages/core/src/store/calendar-period.ts';
import { provide } from '../../../packages/core/src/store/provided.ts';
import { decidedReading } from '../../../packages/core/src/store/alternatives.ts';
import { StoreCalls } from '../../../packages/core/src/store/store-calls.ts';
import { memoryStore } from '../../../packages/core/src/store/memory/memory-store.ts';
import type { Mode, StoreReading } from '../../../packages/core/src/store/store.ts';
import { DenialCache } from '../../../packages/redis/src/batches/denial-cache.ts';
import { forgetHours } from './limits.ts';
import { EPOCH_MS } from './stores.ts';

export { DenialCache };
export type { Decision };

// Some decisions here are made without a limiter, which would do so.
provide(QUOTA.provides!);

const TREATMENT = new Treatment({
  isPlain: true,
  onFailure: 'closed',
  hidden: false,
  part: 'whole',
  borrowing: undefined,
  sheds: false,
  holding: undefined,
  overshoot: undefined,
});

/** What a request asks of a quota. */
export interface QuotaAsk {
  readonly count: number;
  readonly cost: number;
  readonly mode: Mode;
  /** The tokens up to which the request may use the quota. Default: all. */
  readonly fit?: number;
  readonly period: CalendarPeriod;
  readonly calendar?: string;
}

export function quotaAsk({ count, cost, mode, fit, period, calendar = 'a calendar' }: QuotaAsk): Transaction {
  const rate = countingRate({ name: 'quota', level: 'resets', size: 'count' }, count);
  return transactionOf('Quota', rate, { cost, mode, fit: fit ?? count, calendar, period });
}

/** What a request asks of a rate of 7 per second. */
export function rateAsk(cost: number): Transaction {
  const rate = rateOf('limits.Rate', { burst: 7, count: 7, period: '1s' });
  return transactionOf('Rate', rate, { cost, mode: 'check-and-spend', fit: rate.toleranceTicks });
}

interface Ask {
  readonly cost: number;
  readonly mode: Mode;
  readonly fit: number;
  readonly calendar?: string;
  readonly period?: CalendarPeriod;
}

function transactionOf(name: string, rate: Numbers, { cost, mode, fit, calendar, period }: Ask): Transaction {
  const demand = { limit: { name, treatment: TREATMENT }, cost, mode, share: 1 };
  return new Transaction(demand, Object.assign(levelsFrom(rate, rate), { fitTicks: fit }), 'a', calendar, period);
}

/** A wall clock that a theorem sets, in milliseconds since 2026. */
class SetWall {
  #wallMs = 0;
  readonly time = {
    nowMicros: (): number => 0,
    wallNow: (): number => EPOCH_MS + this.#wallMs,
    alarm: (): never => unexpected('alarm'),
    endOfTurn: (): never => unexpected('endOfTurn'),
  };

  setWall(ms: number): void {
    this.#wallMs = ms;
  }
}

/** A memory store as a limiter calls it. */
export class QuotaGate extends SetWall {
  readonly #gate = new OpenGate(memoryStore({ time: this.time }), new StoreCalls(this.time, true));

  spend(batch: readonly Transaction[]): Decision {
    return this.#gate.decide('spend', batch);
  }

  check(batch: readonly Transaction[]): Decision {
    return this.#gate.decide('check', batch);
  }

  charge(ask: Transaction): BucketState {
    const { batch, reading } = this.#gate.charge([ask]);
    return bucketStates(batch, reading)[0]!;
  }
}

/** A quota as users define it, with what is said of its use. */
export class WatchedQuota extends SetWall {
  readonly #calls = new StoreCalls(this.time, true);
  readonly #gate = new OpenGate(memoryStore({ time: this.time }), this.#calls);
  readonly #set: LimitSet<never>;
  #told: number[] = [];
  readonly #part = new QuotaPart((event) => {
    if (event.type === 'quota-warning') this.#told.push(event.threshold);
  });

  constructor(numbers: Quota) {
    super();
    forgetHours();
    const context = { onFailure: 'closed', waits: unexpected, emit: unexpected, calls: this.#calls } as const;
    this.#set = defineLimitSet({ limits: { Quota: quota({ key: accountId(), ...numbers }) } }, context as never);
    this.#part.changed(this.#set.limits);
  }

  spend(cost: number): void {
    this.#part.stage.look(this.#gate.decide('spend', [this.#ask(cost, 'check-and-spend')]));
  }

  charge(cost: number): void {
    this.#part.charged(this.#gate.charge([this.#ask(cost, 'charge')]));
  }

  usage(): Usage {
    const all = usageOf(this.#set, [{ limit: 'Quota', id: 'a' }], (batch) => this.#gate.read(batch));
    return (all as readonly Usage[])[0]!;
  }

  /** The thresholds of the events since the last call. */
  takeWarnings(): readonly number[] {
    const told = this.#told;
    this.#told = [];
    return told;
  }

  #ask(cost: number, mode: Mode): Transaction {
    const limit = this.#set.limits.get('Quota')!;
    return askOf(this.#set, new Use(limit, cost, mode, 1), 'a', undefined) as Transaction;
  }
}

function unexpected(name: string): never {
  throw new Error(`A gate asks for ${name}`);
}

/** The decision that a limiter makes of the levels that a server has read. */
export function decisionFrom(batch: readonly Transaction[], levels: StoreReading): Decision {
  const reading = decidedReading([batch], levels);
  return new Decided(batch, { owner: {}, takes: true, store: {} as never, failure: undefined }, reading);
}
