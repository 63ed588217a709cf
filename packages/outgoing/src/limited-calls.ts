import type { Awaitable, Time } from '@sluice/core';
import {
  assertFits,
  checkOptions,
  complaint,
  durationTicks,
  isEveryone,
  isPlainObject,
  leafOf,
  limitsOf,
  timeOf,
  wholeNumber,
} from '@sluice/core/kit';
import type { ScheduleOptions, Scheduler } from '@sluice/core/scheduler';
import { TICKS_PER_MICRO } from '@sluice/core/store';
import type { CallsOptions, LimitOfCalls } from './calls-options.ts';
import { Exchange } from './exchange.ts';
import { Learning } from './learning/learning.ts';

/** The options that all doors have. */
export const CALLS_OPTIONS = ['limits', 'id', 'cost', 'priority', 'fair', 'within', 'learn', 'learnAtMost'] as const;

/** How a door is called in errors, and what it knows. */
export interface Door {
  readonly of: string;
  readonly known: readonly string[];
  readonly example: string;
}

/** A call, as functions of options get it, and where it goes. */
export interface OutgoingCall<Call> {
  readonly origin: string;
  /** What functions get: the same for each. */
  subject(): Call;
}

const DEFAULT_WITHIN = '30s';
const WITHIN = { minMs: 1, maxMs: 7 * 86_400_000, demand: "from '1ms' to '7d'" };

/** The calls through a door: what each takes, and how it waits. */
export class LimitedCalls<Call> {
  readonly scheduler: Scheduler;
  readonly time: Time;
  readonly #of: string;
  readonly #uses: readonly LimitOfCalls<string, Call>[];
  readonly #options: CallsOptions<string, Call>;
  readonly #learning: Learning | undefined;
  readonly #withinMicros: number;

  /**
   * @throws {SluiceError} `ERR_OPTION`, `ERR_UNKNOWN_OPTION`, `ERR_UNKNOWN_LIMIT`, `ERR_COST`, `ERR_COST_OVER_BURST`,
   * `ERR_DURATION`.
   */
  constructor(asked: Door, scheduler: Scheduler<never>, options: CallsOptions<string, Call>) {
    checkOptions(asked.of, options, asked.known, {}, asked.example);
    this.#of = asked.of;
    this.scheduler = checkedScheduler(asked, scheduler);
    this.time = timeOf(this.scheduler.limiter);
    this.#options = options;
    this.#uses = this.#checkedUses(this.#options);
    this.#checkWaiting(this.#options);
    const { within = DEFAULT_WITHIN } = options;
    this.#withinMicros = durationTicks(`${this.#of}.within`, within, WITHIN) / TICKS_PER_MICRO;
    this.#learning = learningBy(this.scheduler, this.#options);
  }

  /**
   * Returns the exchange of a call, with what it takes.
   *
   * @throws {SluiceError} `ERR_OPTION` for an id that is not text, or a cost that is not a number.
   */
  exchangeOf(call: OutgoingCall<Call>): Awaitable<Exchange> {
    const ids = this.#uses.map(({ id = call.origin }) => (typeof id === 'function' ? id(call.subject()) : id));
    const costs = this.#uses.map(({ cost }) => (typeof cost === 'function' ? cost(call.subject()) : cost));
    if (!ids.some(isPromise) && !costs.some(isPromise)) return this.#exchange(ids as string[], costs as number[]);
    return Promise.all([Promise.all(ids), Promise.all(costs)]).then(([known, given]) => this.#exchange(known, given));
  }

  /** Returns how a call waits. */
  waitOf(call: OutgoingCall<Call>): ScheduleOptions<void> {
    const { priority, fair, within = DEFAULT_WITHIN } = this.#options;
    return {
      priority: typeof priority === 'function' ? priority(call.subject()) : priority,
      fair: typeof fair === 'function' ? fair(call.subject()) : fair,
      within,
    };
  }

  #exchange(ids: readonly string[], costs: readonly (number | undefined)[]): Exchange {
    const entries = this.#uses.map(({ limit }, i) => {
      const id = ids[i];
      if (typeof id !== 'string' || id === '') throw noId(`${this.#of}.id`, limit, id);
      return { limit, id, cost: costs[i] };
    });
    const untilMicros = this.time.nowMicros() + this.#withinMicros;
    return new Exchange({ scheduler: this.scheduler, learning: this.#learning, entries, untilMicros });
  }

  #checkedUses({ limits, id, cost }: CallsOptions<string, Call>): readonly LimitOfCalls<string, Call>[] {
    const known = limitsOf(this.scheduler.limiter);
    const given = limits ?? [...known.keys()];
    if (!Array.isArray(given) || given.length === 0) throw noLimits(`${this.#of}.limits`, limits);
    this.#checkValue('id', id, 'string');
    this.#checkValue('cost', cost, 'number');
    return given.map((each: string | LimitOfCalls<string, Call>, i) => {
      const use = typeof each === 'string' ? { limit: each } : each;
      checkOptions(`${this.#of}.limits[${i}]`, use, ['limit', 'id', 'cost'], {}, "{ limit: 'Api', cost: 1 }");
      this.#checkValue(`limits[${i}].id`, use.id, 'string');
      this.#checkValue(`limits[${i}].cost`, use.cost, 'number');
      const costs = use.cost ?? cost;
      const option = `${this.#of}.limits[${i}].cost`;
      if (typeof costs === 'number') wholeNumber(option, costs, { min: 0, max: Number.MAX_SAFE_INTEGER });
      // An unknown limit is an error of it, too.
      assertFits(this.scheduler.limiter, { limit: use.limit, cost: typeof costs === 'number' ? costs : 0, option });
      const { key } = known.get(use.limit)!;
      return { limit: use.limit, id: use.id ?? (isEveryone(key) ? 'everyone' : id), cost: costs };
    });
  }

  #checkValue(name: string, value: unknown, type: 'string' | 'number'): void {
    if (value === undefined || typeof value === type || typeof value === 'function') return;
    const remedy = `For example ${leafOf(name)}: ${type === 'string' ? "'api.example.com'" : 1}, or a function of the call.`;
    throw complaint('ERR_OPTION', { option: `${this.#of}.${name}`, demand: `a ${type} or a function`, value, remedy });
  }

  #checkWaiting({ priority, fair }: CallsOptions<string, Call>): void {
    this.#checkValue('priority', priority, 'number');
    this.#checkValue('fair', fair, 'string');
    if (typeof priority === 'number') wholeNumber(`${this.#of}.priority`, priority, { min: -10, max: 10 });
  }
}

function learningBy(scheduler: Scheduler, { learn, learnAtMost }: CallsOptions<string, never>): Learning | undefined {
  const learning = new Learning(scheduler.limiter, { learn: learn === false ? undefined : learn, learnAtMost });
  return learn === false ? undefined : learning;
}

function isPromise(value: unknown): value is Promise<unknown> {
  return isPlainObject(value) && typeof value['then'] === 'function';
}

function checkedScheduler({ of, example }: Door, scheduler: unknown): Scheduler {
  const given = scheduler as Partial<Scheduler> | null | undefined;
  if (typeof given?.run === 'function' && given.limiter !== undefined) return given as Scheduler;
  const remedy = `Make one with createScheduler(limiter): ${example}.`;
  throw complaint('ERR_OPTION', { option: `${of}.scheduler`, demand: 'a scheduler', value: scheduler, remedy });
}

function noLimits(option: string, value: unknown): Error {
  const remedy = "For example limits: ['Api'], or leave it out for all limits of the limiter.";
  return complaint('ERR_OPTION', { option, demand: 'an array of limits', value, remedy });
}

function noId(option: string, limit: string, value: unknown): Error {
  const remedy = "Return a text for each call, such as 'api.example.com'.";
  return complaint('ERR_OPTION', { option, limit, demand: 'an id', value, remedy });
}
