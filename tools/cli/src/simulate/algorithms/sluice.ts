import { createLimiter, memoryStore, type Limits, type Limiter } from '@sluice/core';
import { limitsOf, type Limit } from '@sluice/core/kit';
import { FakeTime } from '@sluice/core/testing';
import type { Algorithm } from './algorithm.ts';

/** The limiter itself, with a memory store, on a simulated clock. All clients of a scenario share it. */
export class SluiceLimiter {
  readonly #time = new FakeTime();
  readonly #store = memoryStore({ time: this.#time, maxKeys: 1_000_000 });
  readonly #limiter: Limiter;

  constructor(limits: Limits) {
    this.#limiter = createLimiter({ limits, store: this.#store, time: this.#time, log: false });
  }

  /** The validated limits by name. */
  get limits(): ReadonlyMap<string, Limit> {
    return limitsOf(this.#limiter);
  }

  /** Returns the algorithm that decides requests by some of the limits together. */
  by(names: readonly string[]): Algorithm {
    const limits = names.map((name) => this.limits.get(name)!);
    return {
      decide: (id, atMicros, cost) => {
        this.#time.set(atMicros / 1000);
        const entries = limits.map(({ name, key }) => ({ limit: name, id: bucketOf(key.format.name, id), cost }));
        // A memory store answers synchronously.
        const { allowed, delayMs } = this.#limiter.spendSync(entries);
        return allowed ? Math.round(delayMs * 1000) : undefined;
      },
    };
  }

  async close(): Promise<void> {
    await this.#limiter.close();
    this.#store.close();
  }
}

/** Returns the id of the bucket of a client, which all clients share at a limit with the key `everyone()`. */
export function bucketOf(format: string, id: string): string {
  return format === 'everyone' ? 'everyone' : id;
}
