import { createLimiter, everyone } from '@sluice/core';
import { createScheduler } from '@sluice/core/scheduler';
import { FakeTime } from '@sluice/core/testing';
import { expect, test } from 'vitest';
import { Random } from '../leases/random.ts';
import { sized } from '../sized.ts';

const KEYS = ['a', 'b', 'c', 'd', 'e'] as const;
const MOST_COST = 5;
const CALLS = sized(2000, 20_000);

/** What keys have had, and the range of the difference of two of them since both have calls that wait. */
class Shares {
  readonly #had = new Map<string, number>();
  readonly #waiting = new Map<string, number>();
  readonly #ranges = new Map<string, { least: number; most: number }>();
  widest = 0;

  came(key: string): void {
    this.#waiting.set(key, (this.#waiting.get(key) ?? 0) + 1);
  }

  began(key: string, cost: number): void {
    this.#had.set(key, (this.#had.get(key) ?? 0) + cost);
    this.#waiting.set(key, this.#waiting.get(key)! - 1);
    for (const one of KEYS) for (const other of KEYS) if (one < other) this.#compare(one, other);
  }

  #compare(one: string, other: string): void {
    const pair = one + other;
    const difference = (this.#had.get(one) ?? 0) - (this.#had.get(other) ?? 0);
    const range = this.#ranges.get(pair) ?? { least: difference, most: difference };
    range.least = Math.min(range.least, difference);
    range.most = Math.max(range.most, difference);
    this.widest = Math.max(this.widest, range.most - range.least);
    const haveBoth = [one, other].every((key) => (this.#waiting.get(key) ?? 0) > 0);
    if (haveBoth) this.#ranges.set(pair, range);
    else this.#ranges.delete(pair);
  }
}

test.each(Array.from({ length: sized(2, 5) }, (_, seed) => seed))(
  'of calls of one priority, no key gets a call more than another one while both have calls that wait (seed %i)',
  async (seed) => {
    const random = new Random(seed);
    const time = new FakeTime();
    const limits = { Api: { key: everyone(), burst: MOST_COST, count: 100, period: '1s' } } as const;
    const scheduler = createScheduler(createLimiter({ limits, time, log: false }));
    const shares = new Shares();
    const calls: string[] = [];
    const arrive = (): void => {
      // Some keys ask for more than others.
      const key = KEYS[Math.min(random.whole(0, 4), random.whole(0, 4))]!;
      const cost = random.whole(1, MOST_COST);
      calls.push(key);
      shares.came(key);
      const work = (): void => shares.began(key, cost);
      void scheduler.run([{ limit: 'Api', id: 'everyone', cost }], work, { fair: key, within: '7d' });
    };
    while (calls.length < CALLS || scheduler.size > 0) {
      const isBusy = scheduler.size < 20 || random.chance(0.3);
      for (let i = 0; calls.length < CALLS && i < (isBusy ? 3 : 1); i++) arrive();
      // oxlint-disable-next-line no-await-in-loop -- one step after the other
      await time.pass(random.whole(1, 80));
    }
    expect(shares.widest).toBeGreaterThan(MOST_COST);
    expect(shares.widest).toBeLessThanOrEqual(2 * MOST_COST);
  },
);
