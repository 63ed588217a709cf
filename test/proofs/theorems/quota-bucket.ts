import { all } from '../engine/logic.ts';
import type { Bounds, Scenario } from '../engine/theorem.ts';
import { BothStores, EPOCH_MS, type Entry } from '../subjects/stores.ts';

/** When the first period begins, in milliseconds since 2026: up to 2039, so that all TATs are exact in Redis. */
const START: Bounds = { min: 0, max: 13 * 366 * 86_400_000 };
/** From a second to a year. */
export const LENGTH: Bounds = { min: 1000, max: 367 * 86_400_000 };
export const COUNT: Bounds = { min: 1, max: 10 ** 12 };
export const COST: Bounds = { min: 0, max: COUNT.max };

/** What theorems with a {@link QuotaBucket} assume of calendars. */
export const OF_CALENDARS = 'Periods are as in “Quotas”.';

/** The files that the memory store executes for a quota. */
export const IN_MEMORY = [
  'packages/core/src/store/memory/memory-store.ts',
  'packages/core/src/store/memory/buckets.ts',
  'packages/core/src/store/memory/batch-periods.ts',
  'packages/core/src/store/memory/store-time.ts',
  'packages/core/src/store/calendar-period.ts',
  'packages/core/src/store/transaction-rule.ts',
  'packages/core/src/rule/gcra.ts',
] as const;

/** The files that both stores execute for a quota. */
export const IN_BOTH = [
  ...IN_MEMORY,
  'packages/redis/lua/decide.lua',
  'packages/redis/src/batches/script-batch.ts',
  'packages/core/src/store/server-periods.ts',
] as const;

const STATES = ['never used', 'used in this period', 'used in the period before', 'used in the next period'] as const;
type State = (typeof STATES)[number];

/** Where the periods are in their row. */
export const [BEFORE, THIS, NEXT] = [0, 1, 2] as const;
type Place = typeof BEFORE | typeof THIS | typeof NEXT;
const WRITTEN_IN = {
  'used in this period': THIS,
  'used in the period before': BEFORE,
  'used in the next period': NEXT,
};

/** The bucket of a quota in both stores: in any of three periods, which follow each other, with any count. */
export class QuotaBucket {
  readonly both: BothStores = new BothStores();
  /** The largest count of the quota, also of earlier ones. */
  readonly most: number;
  readonly state: State;
  /** The tokens that were used in the period of the state. */
  readonly used: number;
  /** When the periods begin, and the last of them ends, in milliseconds since 2026. */
  readonly starts: readonly number[];
  readonly #scenario: Scenario;

  constructor(t: Scenario, states: readonly State[] = STATES) {
    this.#scenario = t;
    const lengths = ['the period before', 'the period', 'the next period'].map((name) =>
      t.int(`length of ${name} in ms`, LENGTH),
    );
    this.most = t.int('largest count', COUNT);
    const starts = [t.int('start of the period before, in ms since 2026', START)];
    const similar: boolean[] = [];
    for (const [i, length] of lengths.entries()) {
      starts.push(starts[i]! + length);
      // A token is 1/2048 ms in memory.
      similar.push(this.most <= 0.75 * 2048 * length);
      const next = lengths[i + 1];
      if (next !== undefined) similar.push(next >= 0.75 * length, 2048 * next + this.most <= 1.75 * 2048 * length);
    }
    // In one question.
    t.assume(all(...similar));
    this.starts = starts;
    this.state = t.choice('bucket', states);
    this.used = this.state === 'never used' ? 0 : this.tokens('tokens used in it');
    if (this.state !== 'never used') this.#write(WRITTEN_IN[this.state]);
  }

  /** An unknown number of tokens, of which there is at least one. */
  tokens(name: string): number {
    const tokens = this.#scenario.int(name, COUNT);
    this.#scenario.assume(tokens <= this.most);
    return tokens;
  }

  /** Whether the bucket was used in the next period, and the clock has stepped back. */
  get isAhead(): boolean {
    return this.state === 'used in the next period';
  }

  /** A period and the next one, as a call has them. */
  periodFrom(place: typeof BEFORE | typeof THIS): readonly [number, number, number] {
    const [start, end, nextEnd] = this.starts.slice(place) as [number, number, number];
    return [EPOCH_MS + start, EPOCH_MS + end, EPOCH_MS + nextEnd];
  }

  /** The periods of a call in this period. The clock of a caller that is behind shows the one before. */
  periodOfCaller(): readonly [number, number, number] {
    const clock = this.#scenario.choice('clock of the caller', ['right', 'a period behind'] as const);
    return this.periodFrom(clock === 'right' ? THIS : BEFORE);
  }

  /** Sets the clocks to an unknown time in a period. Redis reads microseconds. @returns It in milliseconds since 2026. */
  goTo(place: Place, name: string = 'now'): number {
    const start = this.starts[place]!;
    const into = this.#scenario.int(`${name}, in ms since the start of its period`, { min: 0, max: LENGTH.max });
    this.#scenario.assume(into < this.starts[place + 1]! - start);
    this.both.setWall(start + into);
    return start + into;
  }

  entry(place: typeof BEFORE | typeof THIS, numbers: Omit<Entry, 'id'> = {}): Entry {
    return { id: 'a', calendar: 'a calendar', period: this.periodFrom(place), ...numbers };
  }

  /** The level in the memory store. The clock must be in a period, or in the next one. */
  memoryLevel(place: typeof BEFORE | typeof THIS = THIS): number {
    const look = { mode: 'check-only', incrementTicks: 0, fitTicks: 0, capTicks: this.most } as const;
    return this.both.memory('check', [this.entry(place, look)])[0]!;
  }

  /** The tokens used in Redis in a period, by its TAT. */
  redisUsed(place: Place = THIS): number {
    return Math.max(this.both.redisTat('a') - 16_000 * this.starts[place + 1]!, 0);
  }

  #write(place: Place): void {
    const { both, used, starts } = this;
    both.setWall(starts[place]!);
    const charge = { incrementTicks: used, capTicks: used };
    both.memory('charge', [this.entry(place === BEFORE ? BEFORE : THIS, charge)]);
    both.putUsed('a', starts[place + 1]!, used);
  }
}
