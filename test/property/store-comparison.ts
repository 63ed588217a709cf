import { memoryStore, type Store } from '@sluice/core';
import { levelAfter, passes, type StoreReading, type StoreRefund, type StoreTransaction } from '@sluice/core/store';
import { callsOf, FakeTime } from '@sluice/core/testing';
import fc from 'fast-check';
import { expect } from 'vitest';
import { anyNumbers } from './limit-arbitraries.ts';
import { OracleBuckets, type OracleDecision, type Asked, type Numbers, type Rule } from './oracle.ts';
import { atMost } from './runs.ts';
import { distinctParts, PartNumbers, type Part } from './store-parts.ts';

/** One call of a store. */
export const step = fc.record({
  call: fc.constantFrom(
    'spend',
    'spend',
    'spendFirst',
    'spendFirst',
    'check',
    'charge',
    'refund',
    'refundLast',
    'reset',
  ),
  parts: distinctParts({ minLength: 1 }),
  /** What `spendFirst` tries after the first. */
  others: fc.array(distinctParts({ minLength: 0 }), { maxLength: 3 }),
});
export type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

let runs = 0;

/** A store, and beside it the memory store and the exact rule, which are told the moments that the store saw. */
export class StoreComparison {
  readonly #store: Store;
  readonly #time = new FakeTime();
  readonly #memory = memoryStore({ time: this.#time });
  readonly #oracle = new OracleBuckets();
  readonly #numbers: PartNumbers;
  /** What the store has said, and what memory store and rule say of it. */
  readonly said: unknown[] = [];
  readonly exact: unknown[] = [];
  /** The last batch that was taken: what the refund of a decision gives back. */
  #taken: readonly StoreRefund[] = [];

  constructor(store: Store, numbers: readonly [Numbers, Numbers]) {
    this.#store = store;
    // The time of a memory store begins at its first reading: it then is the one of the store.
    callsOf(this.#memory).reset([]);
    this.#numbers = new PartNumbers(numbers, `${runs++}-`);
  }

  /** Asks the store for all steps in one turn, then compares what it said of them, in order. */
  async run(steps: readonly Step[]): Promise<void> {
    const lastTaken = this.#taken;
    const comparisons = steps.map((each) => this.#ask(each, lastTaken));
    for (const compare of await Promise.all(comparisons)) compare();
  }

  /** Asks the store; gives what compares the answer, once all that was asked before was compared. */
  async #ask({ call, parts, others }: Step, lastTaken: readonly StoreRefund[]): Promise<() => void> {
    const batch = parts.map((each) => this.#numbers.transaction(each));
    if (call === 'spendFirst') {
      const alternatives = [batch, ...others.map((each) => each.map((one) => this.#numbers.transaction(one)))];
      const readings = await callsOf(this.#store).spendFirst(alternatives);
      return () => this.#compareFirst([parts, ...others], alternatives, readings);
    }
    const asked = call === 'refundLast' ? { call: 'refund' as const, parts, batch: lastTaken } : { call, parts, batch };
    const reading = await callsOf(this.#store)[asked.call](asked.batch as readonly StoreTransaction[]);
    return () => this.#compare(asked, reading);
  }

  #compareFirst(
    parts: readonly (readonly Part[])[],
    alternatives: readonly (readonly StoreTransaction[])[],
    readings: readonly StoreReading[],
  ): void {
    const [{ nowTicks, remembered }] = readings as [StoreReading];
    if (remembered) {
      this.#note(readings.length, alternatives.length);
      for (const [i, reading] of readings.entries()) this.#compareRefusal(alternatives[i]!, reading);
      return;
    }
    this.#setTime(nowTicks);
    this.#note(levelsOf(readings), levelsOf(callsOf(this.#memory).spendFirst(alternatives)));
    const asked = parts.map((each) => each.map((one) => this.#numbers.asked(one)));
    const exact = this.#oracle.decideFirst(asked, BigInt(nowTicks / 16), true);
    this.#note(
      readings.map((reading) => reading.nowTicks),
      exact.map(() => nowTicks),
    );
    for (const [i, reading] of readings.entries()) this.#compareDecision(alternatives[i]!, reading, exact[i]!, true);
  }

  #compare({ call, parts, batch }: Call, reading: StoreReading): void {
    if (call === 'reset') {
      callsOf(this.#memory).reset(batch);
      for (const { id } of batch) this.#oracle.reset(id);
    } else if (reading.bucketNowTicks !== undefined) {
      this.#compareRefusal(batch as readonly StoreTransaction[], reading);
    } else {
      this.#setTime(reading.nowTicks);
      this.#note(
        reading.levelsTicks,
        callsOf(this.#memory)[call as 'spend'](batch as readonly StoreTransaction[]).levelsTicks,
      );
      this.#compareWithRule(call, { parts, batch }, reading);
    }
  }

  /** A refusal from memory has a moment for each bucket. It must be one at each of them, by the levels of then. */
  #compareRefusal(batch: readonly StoreTransaction[], reading: StoreReading): void {
    this.#note(passes(batch, reading.levelsTicks), false);
    for (const [i, transaction] of batch.entries()) {
      this.#setTime(reading.bucketNowTicks![i]!);
      this.#note([reading.levelsTicks[i]], callsOf(this.#memory).check([transaction]).levelsTicks);
    }
  }

  #compareWithRule(call: string, { parts, batch }: Pick<Call, 'parts' | 'batch'>, reading: StoreReading): void {
    const { nowTicks, levelsTicks } = reading;
    const nowMicros = BigInt(nowTicks / 16);
    if (call === 'charge')
      return this.#expectResets(levelsTicks, parts, (asked) => this.#oracle.charge(asked, nowMicros));
    if (call === 'refund') return this.#refundExactly(batch, { nowTicks, levelsTicks });
    const asked = parts.map((each) => this.#numbers.asked(each));
    const takes = call === 'spend';
    const exact = this.#oracle.decide(asked, nowMicros, takes);
    this.#compareDecision(batch as readonly StoreTransaction[], reading, exact, takes);
  }

  #compareDecision(
    transactions: readonly StoreTransaction[],
    { nowTicks, levelsTicks }: StoreReading,
    exact: OracleDecision,
    isSpend: boolean,
  ): void {
    this.#note(passes(transactions, levelsTicks), exact.allowed);
    const takes = isSpend && exact.allowed;
    const after = levelsTicks.map((level, i) => (takes ? levelAfter(transactions[i]!, level) : level));
    this.#note(
      after.map(ceilMs),
      exact.answers.map(({ resetAfterMs }) => resetAfterMs),
    );
    this.#taken = transactions
      .map((transaction, i) => ({ ...transaction, tatAfterSpendTicks: nowTicks + after[i]! }))
      .filter((_, i) => exact.answers[i]!.spent > 0);
  }

  #expectResets(
    levels: readonly number[],
    parts: readonly Part[],
    run: (asked: Asked) => { resetAfterMs: number },
  ): void {
    this.#note(
      levels.map(ceilMs),
      parts.map((each) => run(this.#numbers.asked(each)).resetAfterMs),
    );
  }

  #refundExactly(batch: readonly StoreRefund[], { nowTicks, levelsTicks }: StoreReading): void {
    const nowMicros = BigInt(nowTicks / 16);
    const exact = batch.map(({ id, incrementTicks, tatAfterSpendTicks = Infinity }) => {
      const given = Math.max(0, Math.min(incrementTicks, tatAfterSpendTicks - nowTicks));
      return this.#oracle.refund({ bucket: id, rule: TICKS, cost: given }, nowMicros).resetAfterMs;
    });
    this.#note(levelsTicks.map(ceilMs), exact);
  }

  #note(said: unknown, exact: unknown): void {
    this.said.push(said);
    this.exact.push(exact);
  }

  #setTime(nowTicks: number): void {
    this.#time.set(nowTicks / 16 / 1000);
  }
}

interface Call {
  readonly call: 'spend' | 'check' | 'charge' | 'refund' | 'reset';
  readonly parts: readonly Part[];
  readonly batch: readonly (StoreTransaction | StoreRefund)[];
}

/** A rule by which a token is a tick, and a bucket larger than any. */
const TICKS: Rule = { unitsPerMicro: 16n, interval: 1n, tolerance: 2n ** 53n, burst: 2n ** 53n };

function levelsOf(readings: readonly StoreReading[]): readonly (readonly number[])[] {
  return readings.map(({ levelsTicks }) => levelsTicks);
}

function ceilMs(ticks: number): number {
  return Math.ceil(ticks / 16) / 1000;
}

export const bothNumbers = fc.tuple(anyNumbers, anyNumbers);

/** Steps in groups, each of which is asked for in one turn. */
const turns = fc.array(fc.array(step, { minLength: 1, maxLength: 6 }), { minLength: 1, maxLength: 8 });

/** Compares all calls of one turn, turn after turn, for as many inputs as {@link atMost} allows. */
export async function expectExactInTurns(store: Store): Promise<void> {
  await fc.assert(
    fc.asyncProperty(bothNumbers, turns, async (numbers, groups) => {
      const comparison = new StoreComparison(store, numbers);
      for (const steps of groups) await comparison.run(steps);
      expect(comparison.said).toEqual(comparison.exact);
    }),
    { numRuns: atMost(300) },
  );
}
