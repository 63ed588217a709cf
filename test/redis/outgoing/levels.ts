import { createLimiter, everyone, type Limiter } from '@sluice/core';
import { redisStore } from '@sluice/redis';
import type { Seen } from './demands.ts';
import { LIMIT, SCENARIOS, type Scenario } from './scenarios.ts';

const api = [{ limit: 'Api', id: 'everyone', cost: 0 }] as const;

/** Reads the levels of all scenarios. */
export class Levels {
  readonly #limiters: readonly Limiter<never, 'Api'>[];

  private constructor(limiters: readonly Limiter<never, 'Api'>[]) {
    this.#limiters = limiters;
  }

  static async on(url: string): Promise<Levels> {
    const limiters = SCENARIOS.map(({ prefix, limit }) =>
      createLimiter({
        store: redisStore({ url, prefix, log: false }),
        failure: { deadlineMs: 10_000, onFailure: 'closed' },
        log: false,
        limits: { Api: { key: everyone(), ...limit } },
      }),
    );
    await Promise.all(limiters.map((limiter) => limiter.ready()));
    return new Levels(limiters);
  }

  read(): Promise<readonly Seen['level'][]> {
    return Promise.all(this.#limiters.map((limiter, i) => levelOf(limiter, SCENARIOS[i]!)));
  }
}

async function levelOf(limiter: Limiter<never, 'Api'>, { limit }: Scenario): Promise<Seen['level']> {
  const { resetAfterMs } = await limiter.check(api);
  return { tokens: (resetAfterMs * limit.count) / LIMIT.windowMs, atMs: Date.now() };
}
