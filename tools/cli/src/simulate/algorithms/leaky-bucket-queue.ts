import type { Algorithm, Numbers } from './algorithm.ts';

/**
 * A leaky bucket as a queue: one request continues every `period / count`, and at most `burst` requests wait. nginx'
 * `limit_req` with a burst works like this.
 *
 * @see https://nginx.org/en/docs/http/ngx_http_limit_req_module.html#limit_req
 */
export class LeakyBucketQueue implements Algorithm {
  readonly #numbers: Numbers;
  /** When the next request of each id may continue. Times `count`, so that it is a whole number. */
  readonly #nextAt = new Map<string, number>();

  constructor(numbers: Numbers) {
    this.#numbers = numbers;
  }

  decide(id: string, atMicros: number, cost: number): number | undefined {
    const { burst, count, periodMicros } = this.#numbers;
    const now = atMicros * count;
    const start = Math.max(now, this.#nextAt.get(id) ?? now);
    if (start - now > burst * periodMicros) return undefined;
    this.#nextAt.set(id, start + cost * periodMicros);
    return (start - now) / count;
  }
}
