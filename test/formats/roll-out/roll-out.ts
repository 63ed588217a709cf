import { deepStrictEqual } from 'node:assert';
import type { StoreReading } from '@sluice/core/store';
import { PlainBuckets } from './plain-buckets.ts';
import { RandomSteps, type Decision } from './random-steps.ts';
import { countOf, LIMITS, lookAt, operationOf, periodAt, unitOf, type Step } from './steps.ts';
import type { StoreProcess } from './store-process.ts';

const IDS = Array.from({ length: 64 }, (_, i) => `id-${i}`);

/**
 * Two processes on one store, and plain counters beside them: both make random operations, each on half of the ids, which change
 * hands at each round, and find all buckets as the counters say.
 */
export class RollOut {
  readonly #steps: RandomSteps;
  readonly #plain = new PlainBuckets();
  readonly #last = new Map<string, Decision>();
  readonly #period = periodAt(Date.now());
  #operations = 0;

  constructor(seed: number) {
    this.#steps = new RandomSteps(seed);
  }

  /** How many operations were made. */
  get operations(): number {
    return this.#operations;
  }

  /** Makes at least so many operations by both processes. */
  async run(processes: readonly [StoreProcess, StoreProcess], operations: number): Promise<void> {
    const end = this.#operations + operations;
    // oxlint-disable-next-line no-await-in-loop -- one round after the other
    while (this.#operations < end) await this.#round(processes);
  }

  async #round([one, other]: readonly [StoreProcess, StoreProcess]): Promise<void> {
    const ids = this.#steps.shuffled(IDS);
    const halves = [ids.slice(0, IDS.length / 2), ids.slice(IDS.length / 2)] as const;
    await Promise.all([this.#change(one, halves[0]), this.#change(other, halves[1])]);
    await Promise.all([this.#compare(other, halves[0]), this.#compare(one, halves[1])]);
    this.#operations += IDS.length;
  }

  async #change(process: StoreProcess, ids: readonly string[]): Promise<void> {
    const steps = ids.map((id) => this.#steps.step(id, this.#last.get(id)));
    const readings = await process.run(steps.map((step) => operationOf(step, this.#period)));
    for (const [i, step] of steps.entries()) {
      const passed = this.#plain.run(step);
      if (passed !== undefined) deepStrictEqual({ step, passed: readings[i]!.passed }, { step, passed });
      this.#remember(ids[i]!, step, readings[i]!);
    }
  }

  /** Remembers what a step took of the rate of an id, for a refund. */
  #remember(id: string, step: Step, { passed, nowTicks, levelsTicks, bucketNowTicks }: StoreReading): void {
    this.#last.delete(id);
    if (step.kind !== 'spend' || passed !== 0) return;
    const [batch] = step.alternatives as [
      readonly Extract<Step, { alternatives: unknown }>['alternatives'][number][number][],
    ];
    const at = batch.findIndex(({ limit, mode, count }) => limit === 'Rate' && mode === 'check-and-spend' && count > 0);
    if (at < 0) return;
    const { count } = batch[at]!;
    const now = bucketNowTicks?.[at] ?? nowTicks;
    this.#last.set(id, { count, tatAfterSpendTicks: now + levelsTicks[at]! + count * unitOf(batch[at]!) });
  }

  async #compare(process: StoreProcess, ids: readonly string[]): Promise<void> {
    const readings = await process.run(ids.map((id) => operationOf(lookAt(id), this.#period)));
    const found = ids.map((id, i) => LIMITS.map((limit, j) => countOf({ limit, id }, readings[i]!.levelsTicks[j]!)));
    const exact = ids.map((id) => LIMITS.map((limit) => this.#plain.levelOf({ limit, id })));
    deepStrictEqual(found, exact);
  }
}
