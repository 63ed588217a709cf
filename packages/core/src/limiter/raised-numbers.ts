import { levelsOf } from '../limits/levels.ts';
import type { Limit } from '../limits/limit.ts';
import type { LimitSet } from '../definitions/limit-set.ts';
import { highestLevel } from '../kinds/rate/overshoot.ts';
import { kindOfLimit } from '../kinds/kind.ts';
import type { Numbers } from '../rule/rate.ts';
import { TICKS_PER_MICRO } from '../rule/ticks.ts';
import type { Time } from '../time/time.ts';

const MIN_KEPT_MICROS = 60_000_000;
/** How many sets of limits are kept. Debts from older ones pass with time. */
const MOST_KEPT = 8;

/** A rate and the longest debt that it allows. */
export interface OldNumbers {
  readonly emissionIntervalTicks: number;
  readonly capTicks: number;
}

type Limits = LimitSet<never>['limits'];

/** Limits that were replaced by others, of which some or later ones may be faster. */
interface Replaced {
  readonly set: LimitSet<never>;
  readonly atMicros: number;
  /** When the last debt from its numbers is over. */
  readonly untilMicros: number;
}

/** Keeps the limits that were replaced last, until no debt from them can be left. */
export class RaisedNumbers {
  readonly #time: Time;
  #replaced: readonly Replaced[] = [];

  constructor(time: Time) {
    this.#time = time;
  }

  /** Whether there may be debts from before a raise. */
  remembersAny(): boolean {
    if (this.#replaced.length === 0) return false;
    const nowMicros = this.#time.nowMicros();
    if (this.#replaced.some(({ untilMicros }) => untilMicros <= nowMicros)) {
      this.#replaced = this.#replaced.filter(({ untilMicros }) => untilMicros > nowMicros);
    }
    return this.#replaced.length > 0;
  }

  /** Call it when limits are replaced. */
  changed(before: LimitSet<never>, after: LimitSet<never>): void {
    if (!changesDebts(before, after)) return;
    const atMicros = this.#time.nowMicros();
    const untilMicros = atMicros + keptMicros(longestDebtTicks(before));
    this.#replaced = [...this.#replaced, { set: before, atMicros, untilMicros }].slice(-MOST_KEPT);
  }

  /** Returns the numbers that an id had before raises, as far as debts from them can be left. */
  before(limit: string, id: string): readonly OldNumbers[] {
    const nowMicros = this.#time.nowMicros();
    return this.#replaced.flatMap(({ set, atMicros }) => {
      const old = numbersIn(set, limit, id);
      return old !== undefined && nowMicros < atMicros + keptMicros(old.capTicks) ? [old] : [];
    });
  }
}

/** Whether an id may have another rate or another longest debt than before. The numbers of an overrides function are not known. */
function changesDebts(before: LimitSet<never>, after: LimitSet<never>): boolean {
  const { listed: was, limits } = before;
  const { listed: is } = after;
  if (was === undefined || is === undefined) return false;
  return [...limits.values()].some(
    (limit) =>
      hasDebts(limit) && (was.get(limit.name)?.all !== is.get(limit.name)?.all || !hasSameDebts(limit, after.limits)),
  );
}

/** Only the debt of a rate is a time. That of a quota ends with the period, and slots are released. */
function hasDebts({ kind }: Limit<never>): boolean {
  return kind.level === 'falls';
}

function hasSameDebts(limit: Limit<never>, are: Limits): boolean {
  const changed = are.get(limit.name);
  if (changed === undefined || !hasDebts(changed)) return false;
  const before = numbersOf(limit);
  const after = numbersOf(changed);
  return (
    before.length === after.length &&
    before.every(
      ({ emissionIntervalTicks, capTicks }, i) =>
        emissionIntervalTicks === after[i]!.emissionIntervalTicks && capTicks === after[i]!.capTicks,
    )
  );
}

/** Returns the numbers of an id of a limit, and of its other bucket if it has one. */
function numbersOf(limit: Limit<never>, rate: Numbers = limit.rate): readonly OldNumbers[] {
  const { links } = kindOfLimit(limit);
  const own = oldNumbersOf(rate, limit);
  return links === undefined ? [own] : [own, oldNumbersOf(links.otherNumbers(limit, rate), links.other(limit))];
}

/** Of all ids. Overrides with equal numbers, of which there may be hundreds of thousands, are one. */
function longestDebtTicks({ limits, listed }: LimitSet<never>): number {
  let longestTicks = 0;
  for (const limit of [...limits.values()].filter(hasDebts)) {
    for (const { rate } of [limit, ...(listed!.get(limit.name)?.numbers() ?? [])])
      for (const { capTicks } of numbersOf(limit, rate)) longestTicks = Math.max(longestTicks, capTicks);
  }
  return longestTicks;
}

function numbersIn({ limits, listed }: LimitSet<never>, name: string, id: string): OldNumbers | undefined {
  const limit = limits.get(name) ?? limitBeside(name, limits);
  if (limit === undefined) return undefined;
  const rate = listed!.get(limit.name)?.rateOf(id) ?? limit.rate;
  if (typeof rate === 'string') return undefined;
  return numbersOf(limit, rate)[limit.name === name ? 0 : 1];
}

/** Returns the limit whose ids have other buckets under a name. */
function limitBeside(other: string, limits: Limits): Limit<never> | undefined {
  return [...limits.values()].find((limit) => kindOfLimit(limit).links?.other(limit).name === other);
}

/** How long a debt can last, and at least a minute. */
export function keptMicros(debtTicks: number): number {
  return Math.max(MIN_KEPT_MICROS, debtTicks / TICKS_PER_MICRO);
}

function oldNumbersOf(rate: Numbers, limit: Limit<never>): OldNumbers {
  const capTicks = highestLevel(
    levelsOf(rate, { rate: limit.rate, levels: limit.stored }).capTicks,
    rate,
    limit.treatment,
  );
  return { emissionIntervalTicks: rate.emissionIntervalTicks, capTicks };
}
