// What a store of slots grants, as it is defined: a plain map of the slots that are held, with the time at which each expires.
import type { Store } from '@sluice/core';
import type { StoreHold, StoreReading, StoreTransaction } from '@sluice/core/store';
import type { FakeTime } from '@sluice/core/testing';
import fc from 'fast-check';
import { callsOf } from '@sluice/core/testing';

const IDS = ['a', 'b'] as const;
const MODES = ['check-and-spend', 'check-and-spend', 'check-only', 'spend-only'] as const;
const LIMIT = 'Slots';
const CAP = 5;
/** Thirty days: no token of the rate comes back in a scene. */
const TOKEN_TICKS = 30 * 86_400 * 16_000_000;
const TOKENS = 100;

const expiryMs = fc.constantFrom(1000, 1000, 2000, 5000);

/** A transaction of slots, each with a holder of its own. */
const part = fc.record({
  id: fc.constantFrom(...IDS),
  count: fc.nat(3),
  fit: fc.integer({ min: 1, max: CAP }),
  /** More than `count`, if any. */
  mode: fc.constantFrom(...MODES),
  expiryMs,
});
type Part = typeof part extends fc.Arbitrary<infer T> ? T : never;

/** A batch of slots and, in some of them, of a rate that has room or has none. */
const batch = fc.record({
  parts: fc.uniqueArray(part, { minLength: 1, maxLength: IDS.length, selector: ({ id }) => id }),
  rate: fc.constantFrom('none', 'none', 'room', 'no room'),
});
type Batch = typeof batch extends fc.Arbitrary<infer T> ? T : never;

const target = fc.record({
  id: fc.constantFrom(...IDS),
  /** How many transactions ago the holder began; one that never did is possible, too. */
  ago: fc.nat(6),
  first: fc.integer({ min: 1, max: 3 }),
  count: fc.integer({ min: 1, max: 4 }),
  expiryMs,
});
type Target = typeof target extends fc.Arbitrary<infer T> ? T : never;

const targets = fc.array(target, { minLength: 1, maxLength: 3 });

const step = fc.record({
  /** How the clock moves before: on, to the next expiry or just before it, or back. */
  move: fc.constantFrom('none', 'none', 'on', 'on', 'end', 'just before', 'back'),
  ms: fc.integer({ min: 1, max: 2500 }),
  call: fc.oneof(
    { weight: 6, arbitrary: fc.record({ spend: fc.array(batch, { minLength: 1, maxLength: 3 }) }) },
    { weight: 1, arbitrary: fc.record({ check: batch }) },
    { weight: 2, arbitrary: fc.record({ renew: targets }) },
    { weight: 3, arbitrary: fc.record({ release: targets }) },
    { weight: 1, arbitrary: fc.record({ reset: fc.constantFrom(...IDS) }) },
  ),
});
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

/** What happens to two buckets of slots and a rate. */
export function slotSteps(maxLength: number): fc.Arbitrary<Step[]> {
  return fc.array(step, { minLength: 1, maxLength });
}

interface Slot {
  readonly expiryMs: number;
  endMs: number;
}

/** A store with slots, and beside it plain maps. */
export class SlotComparison {
  readonly #store: Store;
  readonly #time: FakeTime;
  readonly #mostBackMs: number;
  /** By the id of a bucket: by holder and number, the slots that are held. */
  readonly #held = new Map<string, Map<string, Slot>>(IDS.map((id) => [id, new Map()]));
  #tokens = 0;
  #holders = 0;
  #latestMs: number;
  /** The last time at which a slot expired, which the clock does not step back over. */
  #lastEndMs = 0;
  readonly said: unknown[] = [];
  readonly exact: unknown[] = [];

  /** @param mostBackMs - How far the clock may step back behind the latest time. */
  constructor(store: Store, time: FakeTime, mostBackMs: number) {
    this.#store = store;
    this.#time = time;
    this.#mostBackMs = mostBackMs;
    this.#latestMs = time.nowMs;
  }

  async run(steps: readonly Step[]): Promise<void> {
    for (const each of steps) {
      this.#move(each);
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      await this.#lookAtAll();
      // oxlint-disable-next-line no-await-in-loop
      await this.#call(each.call);
      // oxlint-disable-next-line no-await-in-loop
      await this.#lookAtAll();
    }
  }

  #move({ move, ms }: Step): void {
    const now = this.#time.nowMs;
    const ends = [...this.#held.values()].flatMap((bucket) => [...bucket.values()].map(({ endMs }) => endMs));
    const end = ends.length === 0 ? now + ms : Math.min(...ends);
    const to = { none: now, on: now + ms, end, 'just before': end - 1, back: now - ms }[move];
    const at = Math.max(to, this.#latestMs - this.#mostBackMs, this.#lastEndMs);
    this.#time.set(at);
    this.#latestMs = Math.max(this.#latestMs, at);
    for (const bucket of this.#held.values()) {
      for (const [name, slot] of bucket) {
        if (slot.endMs <= at) {
          bucket.delete(name);
          this.#lastEndMs = Math.max(this.#lastEndMs, slot.endMs);
        }
        slot.endMs = Math.min(slot.endMs, at + slot.expiryMs);
      }
    }
  }

  async #lookAtAll(): Promise<void> {
    const { levelsTicks } = await callsOf(this.#store).check([
      ...IDS.map((id) => transaction({ id, count: 0, fit: 1, mode: 'check-only', expiryMs: 1000 }, 'l')),
      rate('room'),
    ]);
    this.said.push(wholeTokens(levelsTicks));
    this.exact.push([...IDS.map((id) => this.#levelOf(id)), this.#tokens]);
  }

  async #call(call: Step['call']): Promise<void> {
    if ('spend' in call) return this.#spend(call.spend);
    if ('check' in call)
      return this.#compare([await callsOf(this.#store).check(this.#transactions(call.check))], [call.check]);
    if ('reset' in call) {
      this.#held.get(call.reset)!.clear();
      await callsOf(this.#store).reset([{ limit: LIMIT, id: call.reset, slots: true }]);
      return;
    }
    if ('renew' in call) {
      await callsOf(this.#store).renew(call.renew.map((each) => this.#hold(each)));
      for (const each of call.renew) this.#take(each.id, this.#holder(each), each);
      return;
    }
    await callsOf(this.#store).release(call.release.map((each) => this.#hold(each)));
    for (const { id, first, count, ...one } of call.release) {
      for (let k = first; k < first + count; k++) this.#held.get(id)!.delete(`${this.#holder(one)}:${k}`);
    }
  }

  async #spend(alternatives: readonly Batch[]): Promise<void> {
    const before = this.#holders;
    const batches = alternatives.map((each) => this.#transactions(each));
    const readings =
      batches.length === 1
        ? [await callsOf(this.#store).spend(batches[0]!)]
        : await callsOf(this.#store).spendFirst(batches);
    const passed = alternatives.findIndex((each) => this.#passes(each));
    this.#compare(readings, passed < 0 ? alternatives : alternatives.slice(0, passed + 1));
    let holders = before;
    for (const [index, { parts, rate: taken }] of alternatives.entries()) {
      for (const each of parts) {
        holders++;
        if (index === passed) this.#take(each.id, `h${holders}`, { ...each, first: 1, count: this.#taken(each) });
      }
      if (index === passed && taken === 'room') this.#tokens++;
    }
  }

  /** Compares readings with the levels before anything was taken. */
  #compare(readings: readonly StoreReading[], batches: readonly Batch[]): void {
    this.said.push(readings.map(({ levelsTicks }) => wholeTokens(levelsTicks)));
    this.exact.push(
      batches.map(({ parts, rate: asked }) => [
        ...parts.map(({ id }) => this.#levelOf(id)),
        ...(asked === 'none' ? [] : [this.#tokens]),
      ]),
    );
  }

  #passes({ parts, rate: asked }: Batch): boolean {
    return asked !== 'no room' && parts.every((each) => each.mode === 'spend-only' || this.#fits(each));
  }

  #fits({ id, count, fit }: Part): boolean {
    return count === 0 || this.#levelOf(id) + count <= fit;
  }

  #taken(each: Part): number {
    const { count, mode } = each;
    if (count === 0 || mode === 'check-only' || !this.#fits(each)) return 0;
    return count;
  }

  #take(id: string, holder: string, { first, count, expiryMs: ms }: Omit<Target, 'id' | 'ago'>): void {
    for (let k = first; k < first + count; k++) {
      this.#held.get(id)!.set(`${holder}:${k}`, { expiryMs: ms, endMs: this.#time.nowMs + ms });
    }
  }

  #levelOf(id: string): number {
    return this.#held.get(id)!.size;
  }

  #transactions({ parts, rate: asked }: Batch): StoreTransaction[] {
    const all = parts.map((each) => transaction(each, `h${++this.#holders}`));
    return asked === 'none' ? all : [...all, rate(asked)];
  }

  #holder({ ago }: Pick<Target, 'ago'>): string {
    return `h${this.#holders - ago}`;
  }

  #hold({ id, ago, ...numbers }: Target): StoreHold {
    return { limit: LIMIT, id, slots: true, holder: this.#holder({ ago }), ...numbers };
  }
}

function transaction({ id, count, fit, mode, expiryMs: ms }: Part, holder: string): StoreTransaction {
  const holding = { holder, expiryMs: ms };
  return { limit: LIMIT, id, slots: true, incrementTicks: count, fitTicks: fit, capTicks: CAP, mode, holding };
}

/** A token of a rate with the same name as the slots. */
function rate(asked: 'room' | 'no room'): StoreTransaction {
  const [id, capTicks] = ['a', TOKENS * TOKEN_TICKS];
  const fitTicks = asked === 'room' ? capTicks : 0;
  return { limit: LIMIT, id, incrementTicks: TOKEN_TICKS, fitTicks, capTicks, mode: 'check-and-spend' };
}

/** The levels, with that of the rate in tokens: little of one comes back in a scene. */
function wholeTokens(levels: readonly number[]): number[] {
  return levels.map((level) => (level < TOKEN_TICKS / 2 ? level : Math.round(level / TOKEN_TICKS)));
}
