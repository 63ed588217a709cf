import { createLimiter, memoryStore, type Decision, type SpendEntry } from '@sluice/core';
import { FakeTime } from '@sluice/core/testing';
import { limitOf } from './limit-arbitraries.ts';
import type { Numbers } from './oracle.ts';

/** A limiter with one limit, on a clock that stands still, and one bucket of it. */
export class OneBucket {
  readonly time: FakeTime;
  readonly limiter;
  readonly #id: string;

  constructor(numbers: Numbers, { startMs = 0, id = '7' }: { startMs?: number; id?: string } = {}) {
    this.time = new FakeTime(startMs);
    const store = memoryStore({ time: this.time });
    this.limiter = createLimiter({ limits: { Only: limitOf(numbers) }, store, log: false });
    this.#id = id;
  }

  spend(cost: number, mode: SpendEntry['mode'] = 'check-and-spend', id: string = this.#id): Decision {
    return this.limiter.spendSync([{ limit: 'Only', id, cost, mode }]);
  }

  /** How the bucket is: asks for nothing. */
  look(): Decision {
    return this.limiter.checkSync([{ limit: 'Only', id: this.#id, cost: 0 }]);
  }

  refund(decision: Decision): void {
    void this.limiter.refund(decision);
  }

  charge(cost: number): void {
    void this.limiter.charge([{ limit: 'Only', id: this.#id, cost }]);
  }
}
