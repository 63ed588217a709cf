import type { Algorithm, Numbers } from './algorithm.ts';

/**
 * A leaky bucket as a meter, with room for one request: a request is allowed if `period / count` has passed since the
 * one that was allowed last. nginx' `limit_req` without a burst works like this.
 *
 * @see https://nginx.org/en/docs/http/ngx_http_limit_req_module.html#limit_req
 */
export class LeakyBucketMeter implements Algorithm {
  readonly #numbers: Numbers;
  /** When the bucket of each id is empty. Times `count`, so that it is a whole number. */
  readonly #emptyAt = new Map<string, number>();

  constructor(numbers: Numbers) {
    this.#numbers = numbers;
  }

  decide(id: string, atMicros: number, cost: number): number | undefined {
    const { count, periodMicros } = this.#numbers;
    const now = atMicros * count;
    if ((this.#emptyAt.get(id) ?? now) > now) return undefined;
    this.#emptyAt.set(id, now + cost * periodMicros);
    return 0;
  }
}
