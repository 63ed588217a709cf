import type { Contestant, Numbers } from './contestant.ts';

/**
 * A limit without a shared store: each of N processes has a token bucket with an N-th of the burst, of at least one
 * token, and of the rate.
 *
 * @see https://www.envoyproxy.io/docs/envoy/latest/configuration/http/http_filters/local_rate_limit_filter "local rate limit"
 */
export class SplitBudgets implements Contestant {
  readonly #numbers: Numbers;
  /** When the bucket of each process and id is full. Times `count`, so that it is a whole number. */
  readonly #fullAt = new Map<string, number>();

  constructor(numbers: Numbers) {
    this.#numbers = numbers;
  }

  decide(id: string, atMicros: number, cost: number, process: number): number | undefined {
    const { burst, count, periodMicros, processes } = this.#numbers;
    const bucket = `${process} ${id}`;
    const now = atMicros * count;
    const tokenTime = periodMicros * processes;
    const fullAt = Math.max(now, this.#fullAt.get(bucket) ?? now) + cost * tokenTime;
    if (fullAt - now > Math.max(burst / processes, 1) * tokenTime) return undefined;
    this.#fullAt.set(bucket, fullAt);
    return 0;
  }
}
