import { changedNumbers, type NumbersChange } from '../definitions/changed-numbers.ts';
import { levelsOf } from '../limits/levels.ts';
import type { Limit, OverrideRate } from '../limits/limit.ts';
import type { LimitSet } from '../definitions/limit-set.ts';
import { highestLevel } from '../kinds/rate/overshoot.ts';
import { overridesOf, type OverrideList } from '../definitions/overrides/override-list.ts';
import { asStored, ceilingRateOf, ceilingsOf } from '../kinds/borrow/pools.ts';
import type { Numbers } from '../rule/rate.ts';
import { TICKS_PER_MICRO } from '../rule/ticks.ts';
import type { Time } from '../time/time.ts';

const MIN_KEPT_MICROS = 60_000_000;
/** How many ids are compared in one turn of the event loop: about a millisecond. */
const IDS_PER_TURN = 5000;

/** A rate and the highest level that it allows. */
export interface OldNumbers {
  readonly emissionIntervalTicks: number;
  readonly capTicks: number;
}

/** The slowest rate and the longest debt that some ids had before they were raised. */
interface Remembered extends OldNumbers {
  readonly untilMicros: number;
}

/** What is remembered of a raised limit. */
interface RaisedLimit {
  /** For ids without an override of their own: from the limit and its networks. */
  shared: Remembered | undefined;
  /** For ids with an override of their own, before or after the raise. */
  readonly ids: Map<string, Remembered>;
}

/** A change whose numbers are still being compared. */
interface Comparison {
  readonly before: LimitSet<never>;
  readonly changes: Iterator<NumbersChange | undefined, void>;
}

/**
 * Remembers the numbers that limits and ids had before they were raised, until no debt from them can be left. Nothing is
 * remembered of other changes.
 *
 * Two sets of limits are compared in slices of a few thousand ids, because they may list hundreds of thousands. Until a
 * comparison has ended, the old set itself is asked.
 */
export class RaisedNumbers {
  readonly #time: Time;
  readonly #limits = new Map<string, RaisedLimit>();
  readonly #comparisons: Comparison[] = [];
  /** When the last of the old numbers is forgotten; 0 when there are none. */
  #untilMicros = 0;

  constructor(time: Time) {
    this.#time = time;
  }

  /** Whether there may be debts from before a raise. */
  remembersAny(): boolean {
    return (this.#untilMicros > 0 && !this.#forgetAllWhenOver()) || this.#comparisons.length > 0;
  }

  /** Call it when limits are replaced. */
  changed(before: LimitSet<never>, after: LimitSet<never>): void {
    this.#forgetOld();
    this.#comparisons.push({ before, changes: changedNumbers(before, after) });
    if (this.#comparisons.length === 1) this.#compare();
  }

  /**
   * Returns the numbers that an id had before raises.
   *
   * @param listed - The overrides in effect.
   */
  before(limit: string, id: string, listed: OverrideList): readonly OldNumbers[] {
    const all = this.#comparisons.flatMap(({ before }) => rateIn(before, limit, id));
    const raised = this.#limits.get(limit);
    const own = raised?.ids.get(id);
    const hasOverride = overridesOf(listed, limit)?.ids.has(id) === true;
    const old = own ?? (hasOverride ? undefined : raised?.shared);
    return old === undefined ? all : [...all, old];
  }

  readonly #compare = (): void => {
    const [comparison] = this.#comparisons;
    const nowMicros = this.#time.nowMicros();
    // Where callbacks end with the request, it may be over before the next turn.
    const most = this.#time.timersEndWithRequest === true ? Infinity : IDS_PER_TURN;
    for (let compared = 0; compared < most; compared++) {
      const { done, value } = comparison!.changes.next();
      if (done === true) {
        this.#comparisons.shift();
        break;
      }
      if (value !== undefined) this.#remember(value, nowMicros);
    }
    if (this.#comparisons.length > 0) this.#time.endOfTurn(this.#compare);
  };

  #remember({ limit: changed, id, before, after }: NumbersChange, nowMicros: number): void {
    const isRaise = typeof before !== 'string' && typeof after !== 'string' && isFaster(after, before);
    const limit = this.#limits.get(changed.name) ?? { shared: undefined, ids: new Map<string, Remembered>() };
    // An id that lost its override has debts from its own old numbers, and not from those that other ids had.
    const isException = id !== undefined && limit.shared !== undefined;
    if (!isRaise && !isException) return;
    const old = merged(
      id === undefined ? limit.shared : limit.ids.get(id),
      remembered(oldNumbersOf(before, changed), nowMicros),
    );
    if (id === undefined) limit.shared = old;
    else limit.ids.set(id, old);
    this.#limits.set(changed.name, limit);
    this.#untilMicros = Math.max(this.#untilMicros, old.untilMicros);
  }

  #forgetOld(): void {
    const nowMicros = this.#time.nowMicros();
    for (const limit of this.#limits.values()) {
      if (limit.shared !== undefined && limit.shared.untilMicros <= nowMicros) limit.shared = undefined;
      for (const [id, { untilMicros }] of limit.ids) if (untilMicros <= nowMicros) limit.ids.delete(id);
    }
  }

  #forgetAllWhenOver(): boolean {
    if (this.#time.nowMicros() < this.#untilMicros) return false;
    this.#limits.clear();
    this.#untilMicros = 0;
    return true;
  }
}

type Interval = Pick<Numbers, 'emissionIntervalTicks'>;

/** Only a rate counts: after a change of the burst alone, debts pass as they are. */
export function isFaster(one: Interval, other: Interval): boolean {
  return one.emissionIntervalTicks < other.emissionIntervalTicks;
}

function rateIn({ limits, listed }: LimitSet<never>, name: string, id: string): readonly OldNumbers[] {
  const limit = limits.get(name) ?? borrowerWith(name, limits);
  if (listed === undefined || limit === undefined) return [];
  const rate = listed.rateOf(limit.name, id) ?? limit.rate;
  if (typeof rate === 'string') return [];
  const ceilings = limit.name === name ? undefined : ceilingsOf(limit);
  if (ceilings !== undefined) return [oldNumbersOf(ceilingRateOf(limit, rate), ceilings)];
  return [oldNumbersOf(rate, asStored(limit, limits))];
}

function borrowerWith(ceilings: string, limits: LimitSet<never>['limits']): Limit<never> | undefined {
  return [...limits.values()].find((limit) => ceilingsOf(limit)?.name === ceilings);
}

/** The numbers of unlimited and blocked ids: no rate is faster. */
const NEVER_IN_DEBT: OldNumbers = { emissionIntervalTicks: 0, capTicks: 0 };

/** How long a debt from old numbers can last, and at least a minute. */
export function keptMicros({ capTicks }: OldNumbers): number {
  return Math.max(MIN_KEPT_MICROS, capTicks / TICKS_PER_MICRO);
}

function oldNumbersOf(rate: OverrideRate, limit: Limit<never>): OldNumbers {
  if (typeof rate === 'string') return NEVER_IN_DEBT;
  const capTicks = highestLevel(levelsOf(rate, limit).capTicks, rate, limit.treatment.overshoot);
  return { emissionIntervalTicks: rate.emissionIntervalTicks, capTicks };
}

function remembered(old: OldNumbers, nowMicros: number): Remembered {
  return { ...old, untilMicros: nowMicros + keptMicros(old) };
}

function merged(one: Remembered | undefined, other: Remembered): Remembered {
  if (one === undefined) return other;
  return {
    emissionIntervalTicks: Math.max(one.emissionIntervalTicks, other.emissionIntervalTicks),
    capTicks: Math.max(one.capTicks, other.capTicks),
    untilMicros: Math.max(one.untilMicros, other.untilMicros),
  };
}
