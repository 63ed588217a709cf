import type { Awaitable } from '../../../src/async/awaitable.ts';
import type { Decided } from '../../../src/decision/decided.ts';
import type { LimiterEvent } from '../../../src/events/event.ts';
import { checkFailureOptions, type FailureOptions } from '../../../src/limits/failure-options.ts';
import type { Changed, Charge } from '../../../src/decision/batch-answer.ts';
import { StoreGuard } from '../../../src/failure/store-guard.ts';
import { DECISION_MAKER } from '../../../src/decision/decide.ts';
import { StoreCalls } from '../../../src/store/store-calls.ts';
import type { StoreStatus } from '../../../src/failure/store-health.ts';
import { fits } from '../../../src/rule/gcra.ts';
import type { ReadyOptions } from '../../../src/store/ready-options.ts';
import type { FailurePolicy } from '../../../src/limits/failure-policy.ts';
import { rateOf } from '../../../src/rule/rate.ts';
import type { Store, StoreRefund, StoreTraits } from '../../../src/store/store.ts';
import type { Transaction } from '../../../src/decision/transaction.ts';
import { CountedTime } from '../../support/counted-time.ts';
import { ScriptedStore, type Behaviour } from './scripted-store.ts';

/** A guard with a method for each operation. */
class RulingGuard {
  readonly #guard: StoreGuard;

  constructor(guard: StoreGuard) {
    this.#guard = guard;
  }

  /** Whose rulings they are. */
  get owner(): object {
    return this.#guard;
  }

  spend(batch: readonly Transaction[]): Awaitable<Decided> {
    return this.#guard.decide('spend', batch);
  }

  check(batch: readonly Transaction[]): Awaitable<Decided> {
    return this.#guard.decide('check', batch);
  }

  charge(batch: readonly Transaction[]): Awaitable<Changed<Transaction>> {
    return this.#guard.charge(batch);
  }

  refund<T extends Charge & StoreRefund>(store: Store, batch: readonly T[]): Awaitable<Changed<T>> {
    return this.#guard.refund(store, batch);
  }

  reset(batch: readonly Transaction[]): Awaitable<void> {
    return this.#guard.run({ kind: 'reset', batch });
  }

  ready(options?: ReadyOptions): Promise<void> {
    return this.#guard.ready(options);
  }

  status(): StoreStatus {
    return this.#guard.status();
  }

  close(): void {
    this.#guard.close();
  }
}

/**
 * A guard around a scripted store, with its time and what it has reported. Most scripted stores fail from the start: that
 * such a store has never answered, which is reported once, is in `onceEvents`.
 */
export function guarded(behaviour: Behaviour, failure: FailureOptions = {}, traits: StoreTraits = {}) {
  const time = new CountedTime();
  const store = new ScriptedStore(behaviour, traits);
  const events: LimiterEvent[] = [];
  const onceEvents: LimiterEvent[] = [];
  const emit = (event: LimiterEvent) => void ('once' in event ? onceEvents : events).push(event);
  const guard = new StoreGuard({
    store,
    failure: checkFailureOptions(failure),
    emit,
    calls: new StoreCalls(time, false),
    makes: DECISION_MAKER,
  });
  return { guard: new RulingGuard(guard), store, time, events, onceEvents };
}

const rates = new Map<string, ReturnType<typeof rateOf>>();

/** A transaction on a limit of 10 tokens, one a second, unless told otherwise. */
export function transaction(
  given: Partial<Omit<Transaction, 'period'>> & {
    burst?: number;
    count?: number;
    period?: string;
    onFailure?: FailurePolicy;
  } = {},
) {
  const {
    burst = 10,
    count = 1,
    period = '1s',
    limit = 'Orders',
    id = 'a',
    cost = 1,
    onFailure = 'local',
    ...rest
  } = given;
  const numbers = `${burst} ${count} ${period}`;
  // One object for one rate, as limits have it.
  const rate = given.rate ?? rates.get(numbers) ?? rateOf('limits.Orders', { burst, count, period });
  rates.set(numbers, rate);
  const made: Transaction = {
    limit,
    id,
    cost,
    share: 1,
    rate,
    incrementTicks: Math.min(cost, rate.burst) * rate.emissionIntervalTicks,
    fitTicks: rate.toleranceTicks,
    capTicks: rate.toleranceTicks,
    mode: 'check-and-spend',
    overridden: false,
    calendar: undefined,
    period: undefined,
    slots: undefined,
    holding: undefined,
    isPlain: true,
    lineTicks: undefined,
    treatment: {
      isPlain: true,
      onFailure,
      hidden: false,
      part: 'whole',
      borrowing: undefined,
      sheds: false,
      holding: undefined,
      overshoot: undefined,
    },
    ...rest,
  };
  return made;
}

/** Gives the decision if a store or a policy has made it; fails the test otherwise. */
export function decided(decision: Decided): Decided {
  if (decision.origin.store === undefined) throw new Error('nothing was decided');
  return decision;
}

/** Whether a batch passed. */
export function passed(decision: Decided): boolean {
  const { batch, levelsTicks } = decided(decision);
  return batch.every(({ mode, incrementTicks, fitTicks }, i) => {
    return mode === 'spend-only' || fits(levelsTicks[i] ?? Infinity, incrementTicks, fitTicks);
  });
}

/** Lets the store fail until the guard leaves it alone. */
export async function breakDown({ guard, time }: { guard: RulingGuard; time: CountedTime }): Promise<void> {
  for (let i = 0; i < 3; i++) {
    const batchAnswer = guard.spend([transaction({ limit: 'Other', onFailure: 'open' })]);
    await time.pass(50);
    await batchAnswer;
  }
}
