import type { Awaitable } from '../awaitable.ts';
import { Decision, type Outcome, type Result } from '../decision.ts';
import { SluiceError, shown } from '../errors.ts';
import type { Failure } from '../failure/ruling.ts';
import type { LimiterCore } from '../limiter.ts';

interface Part {
  readonly decision: Decision;
  readonly limiter: LimiterCore<never>;
}

/**
 * The decision on a request, as its handler finds it: the strictest over all limiters that the request has met so
 * far, with the results of all.
 */
export class RequestDecision {
  outcome!: Outcome;
  allowed!: boolean;
  /** The strictest limit; `null` when none applied. */
  limit!: string | null;
  id!: string | null;
  remaining!: number;
  retryAfterMs!: number;
  resetAfterMs!: number;
  results!: readonly Result[];
  failure?: Failure;
  readonly #parts: Part[] = [];

  /** Called by the middleware with each further decision on the request. */
  add(decision: Decision, limiter: LimiterCore<never>): void {
    const parts = this.#parts;
    parts.push({ decision, limiter });
    this.#report(parts.length === 1 ? decision : parts.map((part) => part.decision).reduce(stricter));
    this.results = parts.length === 1 ? decision.results : parts.flatMap((part) => part.decision.results);
  }

  /** Gives back all tokens that this request took, once: for handlers that find that nothing was done. */
  async refund(): Promise<void> {
    await Promise.all(this.#parts.map(({ decision, limiter }) => limiter.refund(decision)));
  }

  /**
   * Takes further tokens, whether they fit or not: for handlers that learn the cost later.
   *
   * @param tokens - A whole number from 0 up.
   * @param limit - Only this limit's. Left out: every limit's that applied to the request.
   * @throws {SluiceError} `ERR_COST` for another number, `ERR_UNKNOWN_LIMIT` for a limit that did not apply.
   */
  async charge(tokens: number, limit?: string): Promise<void> {
    const charges = this.#parts.map(({ decision, limiter }) => ({
      limiter,
      entries: decision.results
        .filter((result) => limit === undefined || result.limit === limit)
        .map((result) => ({ limit: result.limit, id: result.id, cost: tokens })),
    }));
    if (limit !== undefined && charges.every(({ entries }) => entries.length === 0))
      throw notApplied(limit, this.results);
    await Promise.all(charges.map(({ limiter, entries }): Awaitable<unknown> => limiter.charge(entries)));
  }

  #report({ outcome, allowed, limit, id, remaining, retryAfterMs, resetAfterMs, failure }: Decision): void {
    this.outcome = outcome;
    this.allowed = allowed;
    this.limit = limit;
    this.id = id;
    this.remaining = remaining;
    this.retryAfterMs = retryAfterMs;
    this.resetAfterMs = resetAfterMs;
    if (failure !== undefined) this.failure = failure;
  }
}

function stricter(one: Decision, other: Decision): Decision {
  return Decision.isStricter(other, one) ? other : one;
}

function notApplied(limit: string, results: readonly Result[]): SluiceError {
  const applied = results.map((result) => result.limit).join(', ');
  return new SluiceError('ERR_UNKNOWN_LIMIT', `No limit ${shown(limit)} applied to this request. Applied: ${applied}.`);
}
