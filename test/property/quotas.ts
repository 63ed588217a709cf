// What a quota grants by its definition: a number of tokens for each id and period, whose ends Temporal computes.
import { accountId, createLimiter, type Decision, type Limiter, type Store } from '@sluice/core';
import { quota, type CalendarUnit } from '@sluice/core/quota';
import { FakeTime } from '@sluice/core/testing';
import fc from 'fast-check';
import { Temporal } from 'temporal-polyfill';

const HOUR_MS = 3_600_000;
const [FROM, TO] = [Date.UTC(2001, 0, 1), Date.UTC(2090, 0, 1)];
/** How long a store keeps the count of a period that is over. */
const KEPT_MS = 29_000;
/** Without seconds and minutes: a clock that steps back by more than a period forgets the count of the later one. */
const UNITS = ['hour', 'day', 'week', 'month', 'year'] as const;
/** The most tokens that each may have. */
const MOST = { hour: 3.6e9, day: 8.64e10, week: 6.048e11, month: 1e12, year: 1e12 };

const step = fc.record({
  /** How the store's clock moves before: on, to the end of the period, over it, or back by some seconds. */
  move: fc.constantFrom('none', 'none', 'none', 'little', 'end', 'end', 'over', 'far', 'back'),
  ms: fc.integer({ min: 1, max: 20_000 }),
  gateway: fc.constantFrom(0, 1),
  call: fc.constantFrom('spend', 'spend', 'spend', 'both', 'both', 'check', 'charge', 'refund'),
  id: fc.constantFrom('1', '2'),
  cost: fc.nat(4),
});
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

/** A quota, two gateways whose clocks differ from that of the store, and what they do. */
export const scenes = fc.record({
  unit: fc.constantFrom(...UNITS),
  timeZone: fc.constantFrom('UTC', ...Intl.supportedValuesOf('timeZone')),
  anchors: fc.tuple(fc.integer({ min: FROM, max: TO }), fc.integer({ min: FROM, max: TO })),
  count: fc.integer({ min: 4, max: 9 }),
  /** Whether the quota and its costs, but those of 1, are so many times larger that 9 are the most tokens of a period. */
  isLarge: fc.boolean(),
  at: fc.integer({ min: FROM, max: TO }),
  skewsMs: fc.tuple(fc.constantFrom(0, 300_000, -300_000, 40 * 24 * HOUR_MS), fc.constantFrom(0, 300_000, -300_000)),
  steps: fc.array(step, { minLength: 1, maxLength: 30 }),
});
export type Scene = typeof scenes extends fc.Arbitrary<infer T> ? T : never;

/** A store with a clock of its own. */
export interface Subject {
  readonly store: Store;
  /** Sets the wall clock of the store. */
  readonly setWall: (ms: number) => void;
  /** The burst of a rate beside the quota, which never refills while its clock does not move. */
  readonly rateBurst: number;
}

interface Count {
  readonly start: number;
  used: number;
}

/** Two gateways on one store, and beside them plain counters. */
export class Comparison {
  readonly #scene: Scene;
  readonly #setWall: (ms: number) => void;
  readonly #rateBurst: number;
  readonly #times: number;
  readonly #count: number;
  readonly #gateways: readonly { readonly limiter: Limiter; readonly time: FakeTime }[];
  readonly #counts = new Map<string, Count>();
  /** Tokens of the rate beside the quota, which never refill. */
  readonly #rates = new Map<string, number>();
  readonly said: unknown[] = [];
  readonly exact: unknown[] = [];
  #nowMs: number;
  #latestMs: number;

  constructor(scene: Scene, { store, setWall, rateBurst }: Subject) {
    const { unit: per, timeZone, isLarge, skewsMs } = scene;
    this.#times = isLarge ? Math.floor(MOST[per] / 9) : 1;
    const count = (this.#count = scene.count * this.#times);
    this.#scene = scene;
    this.#setWall = setWall;
    this.#rateBurst = rateBurst;
    this.#nowMs = scene.at;
    this.#latestMs = scene.at;
    setWall(scene.at);
    const key = accountId();
    const anchor = (id: string): string => this.#anchorOf(id);
    this.#gateways = skewsMs.map((skewMs) => {
      const own = new FakeTime();
      own.setWall(scene.at + skewMs);
      const limits = {
        Quota: quota({ key, count, per, timeZone, anchor }),
        Rate: { key, burst: rateBurst, count: 1, period: '1h' },
      } as const;
      return { time: own, limiter: createLimiter({ limits, store: viewOf(store), time: own, log: false }) };
    });
  }

  async run(): Promise<void> {
    for (const each of this.#scene.steps) {
      this.#move(each);
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      await this.#call(each);
    }
  }

  #anchorOf(id: string): string {
    return new Date(this.#scene.anchors[Number(id) - 1]!).toISOString().slice(0, 10);
  }

  #move({ move, ms, id }: Step): void {
    const now = this.#nowMs;
    const [, end] = this.#periodAt(now, id);
    const to = { none: now, little: now + ms, end, over: end + ms, far: end + 400 * 24 * HOUR_MS, back: now - ms }[
      move
    ];
    const at = Math.max(to, this.#latestMs - KEPT_MS);
    this.#nowMs = at;
    this.#setWall(at);
    this.#latestMs = Math.max(this.#latestMs, at);
    for (const [i, { time }] of this.#gateways.entries()) time.setWall(at + this.#scene.skewsMs[i]!);
  }

  async #call({ gateway, call, id, cost: small }: Step): Promise<void> {
    const cost = small === 1 ? 1 : small * this.#times;
    const { limiter } = this.#gateways[gateway]!;
    const now = this.#nowMs;
    const [start, end] = this.#periodAt(now, id);
    const entry = { limit: 'Quota', id, cost };
    const level = this.#level(id, start);
    if (call === 'charge' || call === 'refund') {
      const [state] = await limiter[call]([entry]);
      const after =
        call === 'charge' ? Math.max(level, Math.min(level + cost, this.#count)) : Math.max(0, level - cost);
      if (level !== Infinity) this.#set(id, start, after);
      return this.#compare(state!.remaining, this.#left(level === Infinity ? level : after));
    }
    const batch = call === 'both' ? [{ ...entry, limit: 'Rate', cost: small }, entry] : [entry];
    const decision: Decision = await (call === 'check' ? limiter.check(batch) : limiter.spend(batch));
    const rate = this.#rates.get(id) ?? 0;
    const fits = cost === 0 || level + cost <= this.#count;
    const rateFits = call !== 'both' || cost === 0 || rate + small <= this.#rateBurst;
    const takes = call !== 'check' && fits && rateFits;
    if (takes && cost > 0) this.#set(id, start, level + cost);
    if (takes && call === 'both') this.#rates.set(id, rate + small);
    const after = takes && level !== Infinity ? level + cost : level;
    const result = decision.results.at(-1)!;
    this.#compare(
      [decision.allowed, result.remaining, result.retryAfterMs, result.resetAfterMs, result.periodMs],
      [fits && rateFits, this.#left(after), fits ? 0 : end - now, after > 0 ? end - now : 0, end - start],
    );
  }

  #compare(said: unknown, exact: unknown): void {
    this.said.push(said);
    this.exact.push(exact);
  }

  #left(level: number): number {
    return Math.max(0, this.#count - level);
  }

  /** The tokens used in a period; infinite when the id has been counted in a later one. */
  #level(id: string, start: number): number {
    const count = this.#counts.get(id);
    if (count === undefined || count.start < start || count.used === 0) return 0;
    return count.start === start ? count.used : Infinity;
  }

  #set(id: string, start: number, used: number): void {
    if (used !== this.#level(id, start)) this.#counts.set(id, { start, used });
  }

  /** Start and end of a period, counted from the anchor by adding to it. */
  #periodAt(ms: number, id: string): readonly [start: number, end: number] {
    const { unit, timeZone } = this.#scene;
    const anchor = Temporal.PlainDate.from(this.#anchorOf(id));
    if (unit === 'hour') return hourAt(ms, firstInstant(anchor, timeZone));
    const today = Temporal.Instant.fromEpochMilliseconds(ms).toZonedDateTimeISO(timeZone).toPlainDate();
    const units = `${unit satisfies CalendarUnit}s` as const;
    const near = anchor.until(today, { largestUnit: units })[units];
    const starts: number[] = [];
    for (let i = near - 3; i <= near + 4; i++) starts.push(firstInstant(anchor.add({ [units]: i }), timeZone));
    const next = starts.findIndex((start) => start > ms);
    return [starts[next - 1]!, starts[next]!];
  }
}

function hourAt(ms: number, first: number): readonly [start: number, end: number] {
  const start = first + Math.floor((ms - first) / HOUR_MS) * HOUR_MS;
  return [start, start + HOUR_MS];
}

function firstInstant(date: Temporal.PlainDate, timeZone: string): number {
  return date.toZonedDateTime(timeZone).epochMilliseconds;
}

/** A view of a store, for a limiter with the same names of limits: they are registered for each store object. */
function viewOf(store: Store): Store {
  return {
    guard: store.guard,
    traits: store.traits!,
    run: (operation, deadlineMs) => store.run(operation, deadlineMs),
    close: () => undefined,
  };
}
