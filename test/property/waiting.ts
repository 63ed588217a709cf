// The queue of one bucket, by the readings of the store: when requests continue, and which leave before.
import type { Store } from '@sluice/core';
import { passes, type StoreTransaction } from '@sluice/core/store';
import fc from 'fast-check';
import { quickNumbers } from './limit-arbitraries.ts';
import { roundedRule, type Numbers } from './oracle.ts';
import { worstExcess } from './several-numbers.ts';
import { callsOf } from '@sluice/core/testing';

/** Numbers and a longest delay, in microseconds. */
export const queues: fc.Arbitrary<{ numbers: Numbers; waitMicros: number }> = fc.record({
  numbers: quickNumbers.map((numbers) => ({ ...numbers, burst: Math.min(numbers.burst, 20) })),
  waitMicros: fc.oneof(fc.constantFrom(1000, 2_000_000, 3_600_000_000), fc.integer({ min: 1000, max: 3_600_000_000 })),
});

const part = fc.oneof(fc.constantFrom(0, 0, 1), fc.double({ min: 0, max: 1, noNaN: true }));

/** What happens, one after the other. Pauses and costs are parts of a token's time and of the burst. */
export const queueSteps = fc.array(
  fc.oneof(
    { weight: 4, arbitrary: fc.record({ does: fc.constant('comes' as const), pause: part, cost: part }) },
    { weight: 1, arbitrary: fc.record({ does: fc.constant('leaves' as const), pause: part, place: part }) },
  ),
  { minLength: 1, maxLength: 14 },
);
type QueueStep = typeof queueSteps extends fc.Arbitrary<(infer T)[]> ? T : never;

/** A request that was admitted to the queue. All times are ticks of the store's clock. */
interface Admitted {
  readonly came: bigint;
  readonly starts: bigint;
  readonly increment: bigint;
  readonly tokens: number;
  readonly tatAfter: bigint;
  left: boolean;
}

/** The result of a run: what was wrong, and by how many ticks the starts in some window exceed the rate. */
export interface QueueReport {
  readonly wrong: readonly string[];
  readonly excess: bigint;
}

/** A queue in a store, and the same by the definition of the rule on whole numbers of any size, slow and obvious. */
export class QueueRun {
  readonly #store: Store;
  readonly #bucket: { readonly limit: string; readonly id: string };
  readonly #numbers: Numbers;
  readonly #wait: bigint;
  readonly #admitted: Admitted[] = [];
  readonly #wrong: string[] = [];
  #tat = 0n;

  constructor(store: Store, id: string, { numbers, waitMicros }: { numbers: Numbers; waitMicros: number }) {
    this.#store = store;
    this.#bucket = { limit: 'Queue', id };
    this.#numbers = numbers;
    this.#wait = BigInt(waitMicros) * 16n;
  }

  /** @param pause - Lets a part of a token's time pass; without effect where time is real. */
  async run(steps: readonly QueueStep[], pause: (micros: number) => void): Promise<QueueReport> {
    const { interval } = roundedRule(this.#numbers);
    for (const step of steps) {
      pause(Math.floor(step.pause * (Number(interval) / 16)));
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      await (step.does === 'comes' ? this.#comes(step.cost) : this.#leaves(step.place));
    }
    const stayed = this.#admitted.filter(({ left }) => !left);
    for (const [i, { starts }] of stayed.entries()) {
      this.#expect(i === 0 || stayed[i - 1]!.starts <= starts, `${i} starts before the one that came before it`);
    }
    const taken = stayed.map(({ starts, tokens }) => ({ atTicks: starts, tokens }));
    return { wrong: this.#wrong, excess: worstExcess(taken, [this.#numbers]) };
  }

  async #comes(cost: number): Promise<void> {
    const { interval, tolerance } = roundedRule(this.#numbers);
    const tokens = Math.max(1, Math.floor(cost * this.#numbers.burst));
    const increment = BigInt(tokens) * interval;
    const transaction: StoreTransaction = {
      ...this.#bucket,
      incrementTicks: Number(increment),
      fitTicks: Number(tolerance + this.#wait),
      capTicks: Number(tolerance + this.#wait),
      lineTicks: Number(tolerance),
      mode: 'check-and-spend',
    };
    const { nowTicks, levelsTicks } = await callsOf(this.#store).spend([transaction]);
    const came = BigInt(nowTicks);
    const full = this.#tat > came ? this.#tat : came;
    const turn = full + increment - tolerance;
    const starts = turn > came ? turn : came;
    const isAdmitted = starts - came <= this.#wait;
    this.#expect(BigInt(levelsTicks[0]!) === full - came, `the level is ${levelsTicks[0]}, by the rule ${full - came}`);
    this.#expect(passes([transaction], levelsTicks) === isAdmitted, `admitted: ${!isAdmitted}, by the rule not`);
    if (!isAdmitted) return;
    this.#tat = full + increment;
    this.#admitted.push({ came, starts, increment, tokens, tatAfter: this.#tat, left: false });
  }

  async #leaves(place: number): Promise<void> {
    const { nowTicks: before } = await this.#look();
    const waiting = this.#admitted.filter(({ starts, left }) => !left && starts > BigInt(before));
    const one = waiting[Math.min(Math.floor(place * waiting.length), waiting.length - 1)];
    if (one === undefined) return;
    const { tolerance } = roundedRule(this.#numbers);
    const { nowTicks, levelsTicks } = await callsOf(this.#store).refund([
      {
        ...this.#bucket,
        incrementTicks: Number(one.increment),
        tatAfterSpendTicks: Number(one.tatAfter),
        lineTicks: Number(tolerance),
        capTicks: Number(tolerance + this.#wait),
      } as never,
    ]);
    const now = BigInt(nowTicks);
    // With a real clock its turn may have come meanwhile. It counts as left all the same.
    one.left = true;
    const isLast = this.#tat === one.tatAfter;
    const ahead = one.tatAfter > now ? one.tatAfter - now : 0n;
    if (isLast || this.#tat - now <= tolerance) this.#tat -= one.increment < ahead ? one.increment : ahead;
    const level = this.#tat > now ? this.#tat - now : 0n;
    this.#expect(
      BigInt(levelsTicks[0]!) === level,
      `the level after leaving is ${levelsTicks[0]}, by the rule ${level}`,
    );
  }

  #look() {
    return callsOf(this.#store).check([
      { ...this.#bucket, incrementTicks: 0, fitTicks: 0, capTicks: 2 ** 52, mode: 'check-only' },
    ]);
  }

  #expect(isRight: boolean, otherwise: string): void {
    if (!isRight) this.#wrong.push(otherwise);
  }
}
