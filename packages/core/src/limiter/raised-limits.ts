import type { Awaitable } from '../async/awaitable.ts';
import type { Decided } from '../decision/decided.ts';
import type { LimitSet } from '../definitions/limit-set.ts';
import { highestLevel } from '../kinds/rate/overshoot.ts';
import { mapKeyOf } from '../store/bucket-key.ts';
import type { StoreCap } from '../store/store.ts';
import type { Time } from '../time/time.ts';
import { keptMicros, RaisedNumbers, type OldNumbers } from './raised-numbers.ts';

/** The most cuts that are remembered. While there are more, debts pass with time. */
const MAX_CUTS = 100_000;

/** A debt from before a raise. */
interface OldDebt extends StoreCap {
  readonly levelTicks: number;
  /** The numbers that it is from. */
  readonly old: OldNumbers;
}

/** A cut that the store was asked for. */
interface Cut {
  /** The level that is left. */
  readonly capTicks: number;
  readonly untilMicros: number;
  /** Resolves to whether the store has made the cut. Undefined when it has. */
  running: Promise<boolean> | undefined;
}

/**
 * Makes a raised limit take effect at once.
 *
 * A debt is a time. A debt from the old numbers may be longer than the time in which an empty bucket of the new numbers
 * fills, and the client would have to wait for all of it: after a raise from 1 a day to 5 a second, still a day. So
 * when a decision meets such a debt, the store is asked to cut it to that of an empty bucket. At a limit with an
 * `overshoot`, it leaves also what processes with leases may have let through beyond that, because they have charged it.
 *
 * - From which numbers a debt is: a store does not know it. A debt that the new numbers allow, or remembered ones that are
 *   at least as fast, may be from them, and is not cut: otherwise a client could spend their burst twice. A longer debt is
 *   from slower numbers, and is cut to the longest that those allow.
 * - What is remembered, and for how long: the limits that were replaced, see {@link RaisedNumbers}, and which buckets were
 *   cut, both until no debt from the old numbers can be left.
 * - Who cuts: each limiter that has learned of the raise, once for each bucket. A longer debt than a cut has left is
 *   from processes that still use the old numbers, and stays: repeated cuts would remove the limit altogether.
 * - Decisions on a bucket whose cut is in progress wait for it. A cut that failed is made again at the next decision.
 */
export class RaisedLimits {
  readonly #time: Time;
  readonly #numbers: RaisedNumbers;
  readonly #cuts = new Map<string, Cut>();
  /** False while nothing is remembered: the only check that a decision then needs. Only this class changes it. */
  isActive = false;

  constructor(time: Time) {
    this.#time = time;
    this.#numbers = new RaisedNumbers(time);
  }

  /** Whether a raise is remembered. Otherwise decisions need no check for old debts. */
  remembersAny(): boolean {
    return this.isActive && this.#staysActive();
  }

  /** Call it when limits are replaced. */
  changed(before: LimitSet<never>, after: LimitSet<never>): void {
    this.#numbers.changed(before, after);
    this.isActive = true;
  }

  /**
   * Asks for the cut of the debts from before a raise that a decision has met.
   *
   * @param current - The limits in effect.
   * @param cap - Asks the store. When it throws, so does this.
   * @returns Whether a debt was cut, so that the batch may be decided otherwise now.
   */
  cutDebts(
    decision: Decided,
    current: LimitSet<never>,
    cap: (debts: readonly StoreCap[]) => Awaitable<unknown>,
  ): Awaitable<boolean> {
    const debts: OldDebt[] = [];
    const running: Promise<boolean>[] = [];
    for (const debt of this.#oldDebts(decision, current)) {
      const cut = this.#cuts.get(mapKeyOf(debt));
      if (cut?.running !== undefined) running.push(cut.running);
      else if (cut === undefined ? this.#hasRoom() : this.#isOver(cut) || debt.levelTicks <= cut.capTicks) {
        debts.push(debt);
      }
    }
    const done = debts.length > 0 && this.#follow(debts, cap(debts));
    if (running.length === 0) return done;
    return Promise.all([done, ...running]).then((all) => all.includes(true));
  }

  #oldDebts(decision: Decided, { listed }: LimitSet<never>): readonly OldDebt[] {
    if (listed === undefined || decision.origin.store === undefined || decision.failure !== undefined) return [];
    const debts: OldDebt[] = [];
    for (const [i, { limit, id, rate, treatment, ...levels }] of decision.batch.entries()) {
      const levelTicks = decision.levelsTicks[i]!;
      const capTicks = highestLevel(levels.capTicks, rate, treatment);
      // Other levels are numbers, and not times.
      if (levelTicks <= capTicks || rate.kind.level !== 'falls') continue;
      const before = this.#numbers.before(limit, id);
      const isSlower = ({ emissionIntervalTicks }: OldNumbers): boolean =>
        emissionIntervalTicks > rate.emissionIntervalTicks;
      const notSlower = before.filter((numbers) => !isSlower(numbers));
      const leftTicks = Math.max(capTicks, ...notSlower.map((numbers) => numbers.capTicks));
      // A longer debt than the old numbers allow is from another process with other numbers.
      const old = before.find((numbers) => isSlower(numbers) && levelTicks <= numbers.capTicks);
      if (old !== undefined && levelTicks > leftTicks) debts.push({ limit, id, capTicks: leftTicks, levelTicks, old });
    }
    return debts;
  }

  /** @param answer - The store's answer to the cut of the debts. */
  #follow(debts: readonly OldDebt[], answer: Awaitable<unknown>): Awaitable<boolean> {
    const earlier = debts.map((debt) => this.#cuts.get(mapKeyOf(debt)));
    const cuts = debts.map((debt) => this.#remember(debt));
    if (!(answer instanceof Promise)) return true;
    const running = answer.then(
      () => {
        for (const cut of cuts) cut.running = undefined;
        return true;
      },
      () => {
        for (const [i, cut] of earlier.entries()) this.#set(mapKeyOf(debts[i]!), cut);
        return false;
      },
    );
    for (const cut of cuts) cut.running = running;
    return running;
  }

  #remember(debt: OldDebt): Cut {
    const untilMicros = this.#time.nowMicros() + keptMicros(debt.old.capTicks);
    const cut: Cut = { capTicks: debt.capTicks, untilMicros, running: undefined };
    this.#set(mapKeyOf(debt), cut);
    return cut;
  }

  #set(bucket: string, cut: Cut | undefined): void {
    this.#cuts.delete(bucket);
    if (cut !== undefined) this.#cuts.set(bucket, cut);
  }

  #staysActive(): boolean {
    this.isActive = this.#numbers.remembersAny();
    if (!this.isActive) this.#cuts.clear();
    return this.isActive;
  }

  // Only the oldest are looked at, which costs a constant time for each cut.
  #hasRoom(): boolean {
    for (const [bucket, oldest] of this.#cuts) {
      if (!this.#isOver(oldest)) break;
      this.#cuts.delete(bucket);
    }
    return this.#cuts.size < MAX_CUTS;
  }

  #isOver({ untilMicros }: Cut): boolean {
    return untilMicros <= this.#time.nowMicros();
  }
}
