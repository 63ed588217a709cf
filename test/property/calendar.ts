// Counts of calendar periods as they are defined: a number of tokens and the period that they belong to, for each bucket.
import type { Store } from '@sluice/core';
import { StalePeriodError, type CalendarPeriod, type StoreReading } from '@sluice/core/store';
import type { FakeTime } from '@sluice/core/testing';
import fc from 'fast-check';
import { callsOf } from '@sluice/core/testing';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** How long a store keeps the count of a period that is over. */
const KEPT_MS = 30_000;
const BUCKETS = ['a', 'b'] as const;
const CALLS = ['spend', 'spend', 'spend', 'check', 'charge', 'refund', 'refundLast', 'reset', 'cap'] as const;
const MODES = ['check-and-spend', 'check-and-spend', 'check-only', 'spend-only', 'charge'] as const;

/** The lengths of periods, and the most tokens of one: hours, days with changes of the clocks, months, years. */
const periods = fc.oneof(
  periodsOf(1, [HOUR_MS], 3.6e9),
  periodsOf(10, [23 * HOUR_MS, 24 * HOUR_MS, 24 * HOUR_MS, 25 * HOUR_MS], 8.64e10),
  periodsOf(12, [28 * DAY_MS, 29 * DAY_MS, 30 * DAY_MS, 31 * DAY_MS], 1e12),
  periodsOf(4, [365 * DAY_MS, 366 * DAY_MS], 1e12),
);

function periodsOf(maxLength: number, lengths: readonly number[], most: number) {
  return fc.record({
    lengths: fc.array(fc.constantFrom(...lengths), { minLength: 1, maxLength }),
    most: fc.constant(most),
  });
}

const step = fc.record({
  /** How the clock moves before: a little, almost or right to the end of the period, over it, over several, or back. */
  move: fc.constantFrom('none', 'none', 'none', 'none', 'little', 'before', 'end', 'over', 'several', 'back', 'back'),
  ms: fc.integer({ min: 1, max: 20_000 }),
  /** The caller: its clock is right, 5 minutes ahead, or behind. */
  skewMs: fc.constantFrom(0, 300_000, -300_000),
  call: fc.constantFrom(...CALLS),
  parts: fc.uniqueArray(
    fc.record({ bucket: fc.constantFrom(...BUCKETS), cost: fc.nat(6), mode: fc.constantFrom(...MODES) }),
    { minLength: 1, maxLength: 2, selector: ({ bucket }) => bucket },
  ),
});
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

/** The same with other costs: 0 and 1 remain, and the others are multiples, or a token more or less. */
function scaled({ parts, ...rest }: Step, unit: number): Step {
  return { ...rest, parts: parts.map((part) => ({ ...part, cost: costOf(part.cost, unit) })) };
}

function costOf(cost: number, unit: number): number {
  return cost < 2 ? cost : cost * unit + (cost % 3) - 1;
}

type Part = Step['parts'][number];

/** A calendar, the size of a quota, and what callers do. Every other one has as many tokens as its periods can have. */
export const scenes = fc
  .record({
    periods,
    count: fc.integer({ min: 1, max: 20 }),
    isLarge: fc.boolean(),
    steps: fc.array(step, { minLength: 1, maxLength: 60 }),
  })
  .map(({ periods: { lengths, most }, count, isLarge, steps }) => {
    if (!isLarge) return { lengths, count, steps };
    return { lengths, count: most, steps: steps.map((each) => scaled(each, Math.floor(most / 6))) };
  });
export type Scene = typeof scenes extends fc.Arbitrary<infer T> ? T : never;

interface Count {
  readonly period: number;
  readonly used: number;
}

/** What a decision took, and the count right after it. */
interface Taken extends Count {
  readonly bucket: string;
  readonly cost: number;
  readonly tat: number;
}

/** A store with its clock, and beside it the counts as they should be. */
export class Comparison {
  readonly #store: Store;
  readonly #time: FakeTime;
  readonly #originMs: number;
  readonly #scene: Scene;
  readonly #counts = new Map<string, Count>();
  /** Tokens that were taken, less those given back, by bucket and period: never more than the quota. */
  readonly #granted = new Map<string, Map<number, number>>();
  /** What the store has returned, and what it should have. */
  readonly said: unknown[] = [];
  readonly exact: unknown[] = [];
  /** The most tokens that a bucket has granted in one period. */
  mostGranted = 0;
  #latestMs = 0;
  #last: readonly Taken[] = [];

  /** @param originMs - The wall clock of the store at time 0. */
  constructor(store: Store, time: FakeTime, originMs: number, scene: Scene) {
    this.#store = store;
    this.#time = time;
    this.#originMs = originMs;
    this.#scene = scene;
  }

  async run(): Promise<void> {
    for (const each of this.#scene.steps) {
      this.#move(each);
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      await this.#call(each);
    }
  }

  #move({ move, ms }: Step): void {
    const now = this.#time.nowMs;
    const toEnd = this.#end(this.#periodAt(now)) - now;
    const moved = {
      none: 0,
      little: ms,
      before: toEnd - ms,
      end: toEnd,
      over: toEnd + ms,
      several: 3 * toEnd,
      back: -ms,
    };
    // Time 0 is in the middle of period 0. A store may forget a count that is over for longer than it keeps it.
    const earliest = Math.max(0, this.#latestMs - KEPT_MS + 1);
    this.#time.set(Math.max(earliest, now + moved[move]));
    this.#latestMs = Math.max(this.#latestMs, this.#time.nowMs);
  }

  async #call({ call, parts, skewMs }: Step): Promise<void> {
    const period = this.#periodAt(this.#time.nowMs);
    if (call === 'reset') {
      await callsOf(this.#store).reset(parts.map(({ bucket }) => ({ limit: 'Quota', id: bucket })));
      for (const { bucket } of parts) this.#forget(bucket);
      return;
    }
    const last = call === 'refundLast' ? this.#last : undefined;
    if (last?.length === 0) return;
    const reading = await this.#ask(call, last ?? parts, skewMs);
    const before = (last ?? parts).map(({ bucket }) => this.#level(bucket, period));
    if (call === 'spend') return this.#compareSpend(parts, period, before, reading);
    for (const [i, part] of (last ?? parts).entries()) {
      if (call !== 'check') this.#set(part.bucket, period, this.#changed(call, part, before[i]!, period), before[i]!);
    }
    this.#compare(
      (last ?? parts).map(({ bucket }) => this.#level(bucket, period)),
      reading,
    );
  }

  #compareSpend(parts: readonly Part[], period: number, before: readonly number[], reading: StoreReading): void {
    this.#compare(before, reading);
    const { count } = this.#scene;
    const fits = parts.map(({ cost }, i) => cost === 0 || before[i]! + cost <= count);
    const denies = parts.map(({ mode }) => mode === 'check-and-spend' || mode === 'check-only');
    if (!parts.every((_, i) => fits[i]! || !denies[i]!)) return;
    const taken: Taken[] = [];
    for (const [i, { bucket, cost, mode }] of parts.entries()) {
      const level = before[i]!;
      const takes = mode === 'charge' ? Math.max(0, Math.min(cost, count - level)) : fits[i]! ? cost : 0;
      if (mode === 'check-only' || takes === 0) continue;
      this.#set(bucket, period, level + takes, level);
      taken.push({
        bucket,
        cost: takes,
        period,
        used: level + takes,
        tat: reading.bucketNowTicks![i]! + level + takes,
      });
    }
    this.#last = taken;
  }

  #changed(
    call: 'charge' | 'refund' | 'refundLast' | 'cap' | 'check',
    part: Part | Taken,
    level: number,
    period: number,
  ) {
    const { count } = this.#scene;
    if (level === Infinity) return level;
    if (call === 'charge') return Math.max(level, Math.min(level + part.cost, count));
    if (call === 'cap') return Math.min(level, count);
    const taken = part as Taken;
    const given =
      call === 'refund' || taken.period > period
        ? part.cost
        : taken.period === period
          ? Math.min(taken.cost, taken.used)
          : 0;
    return Math.max(0, level - given);
  }

  /** The tokens used in a period; infinite for a count of the next one. */
  #level(bucket: string, period: number): number {
    const count = this.#counts.get(bucket);
    if (count === undefined || count.period < period) return 0;
    return count.period === period ? count.used : Infinity;
  }

  #set(bucket: string, period: number, used: number, before: number): void {
    if (used === before) return;
    if (used === 0) return this.#forget(bucket);
    this.#counts.set(bucket, { period, used });
    const granted = this.#granted.get(bucket) ?? new Map<number, number>();
    this.#granted.set(bucket, granted.set(period, (granted.get(period) ?? 0) + used - before));
    this.mostGranted = Math.max(this.mostGranted, granted.get(period)!);
  }

  /** A full bucket is the same as no bucket, also after a reset or a refund of all that was taken. */
  #forget(bucket: string): void {
    this.#counts.delete(bucket);
    this.#granted.delete(bucket);
  }

  #compare(levels: readonly number[], reading: StoreReading): void {
    const { count } = this.#scene;
    const compared = reading.levelsTicks.map((level) => (level > count ? Infinity : level));
    const wallMs = this.#originMs + this.#time.nowMs;
    this.said.push(compared, reading.bucketWallMs);
    this.exact.push(
      levels,
      levels.map(() => wallMs),
    );
  }

  /** Calls the store as a caller does: with its own idea of the period, and once again if that is stale. */
  async #ask(call: Exclude<Step['call'], 'reset'>, parts: readonly (Part | Taken)[], skewMs: number) {
    try {
      return await this.#send(call, parts, this.#time.nowMs + skewMs);
    } catch (error) {
      if (!(error instanceof StalePeriodError)) throw error;
      return this.#send(call, parts, error.wallMs - this.#originMs);
    }
  }

  async #send(call: Exclude<Step['call'], 'reset'>, parts: readonly (Part | Taken)[], atMs: number) {
    const { count } = this.#scene;
    const index = this.#periodAt(atMs);
    const ends = [index - 1, index, index + 1].map((each) => this.#originMs + this.#end(each));
    const period = ends as unknown as CalendarPeriod;
    const batch = parts.map((part) => ({
      limit: 'Quota',
      id: part.bucket,
      incrementTicks: part.cost,
      fitTicks: count,
      capTicks: count,
      mode: 'mode' in part ? part.mode : 'check-and-spend',
      tatAfterSpendTicks: call === 'refundLast' ? (part as Taken).tat : undefined,
      period,
    }));
    if (call === 'cap') return callsOf(this.#store).cap(batch);
    return callsOf(this.#store)[call === 'refundLast' ? 'refund' : call](batch);
  }

  #periodAt(ms: number): number {
    let index = 0;
    while (this.#end(index) <= ms) index++;
    while (this.#end(index - 1) > ms) index--;
    return index;
  }

  /** The end of a period: period 0 began half a length before time 0. */
  #end(index: number): number {
    const { lengths: all } = this.#scene;
    const lengthOf = (i: number): number => all[((i % all.length) + all.length) % all.length]!;
    let end = lengthOf(0) / 2;
    for (let i = 1; i <= index; i++) end += lengthOf(i);
    for (let i = 0; i > index; i--) end -= lengthOf(i);
    return end;
  }
}
