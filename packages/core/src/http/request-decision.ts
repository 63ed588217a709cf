import { bucketKey } from '../store/bucket-key.ts';
import type { Decision, Outcome } from '../decision/decision.ts';
import type { Result } from '../decision/result.ts';
import { listed, shown, SluiceError } from '../checks/errors.ts';
import type { Failure } from '../decision/batch-answer.ts';
import type { RequestLimiter } from '../limiter/request-limiter.ts';
import { showAsJson } from '../decision/show-as-json.ts';
import { strictestDecision } from '../decision/strictness.ts';

/** The decision of a middleware, and the limits that it used. */
interface MiddlewareDecision {
  readonly decision: Decision;
  readonly limiter: RequestLimiter<never>;
  readonly limits: readonly LimitName[];
}

interface LimitName {
  readonly limit: string;
}

/** The figures of the strictest decision, which are worked out when they are read. */
const FIGURES = [
  'outcome',
  'allowed',
  'blocked',
  'overloaded',
  'limit',
  'id',
  'remaining',
  'retryAfterMs',
  'resetAfterMs',
  'failure',
  'reason',
] as const;

/**
 * The decision on a request for its handler: the strictest decision of all middlewares so far, with the results of all.
 */
export class RequestDecision {
  /** `unavailable` when the store can't answer and a limit has the policy `closed`; the response is then a 503. */
  declare readonly outcome: Outcome;
  /** Whether all decisions so far allowed the request. */
  declare readonly allowed: boolean;
  /** Whether an override blocks an id of the request; the response is then a 403. */
  declare readonly blocked: boolean;
  /** Whether the service has no room, see {@link Decision.overloaded}; the response is then a 503. */
  declare readonly overloaded: boolean;
  /** The name of the strictest limit; `null` when no limit applied. */
  declare readonly limit: string | null;
  /** The id of the strictest transaction; `null` when no limit applied. */
  declare readonly id: string | null;
  /** Whole tokens left in the strictest bucket; `Infinity` when no limit applied. */
  declare readonly remaining: number;
  /**
   * Milliseconds until the same request can pass, if no other request comes; 0 when allowed, `Infinity` when blocked.
   */
  declare readonly retryAfterMs: number;
  /** Milliseconds until the strictest bucket is full; `Infinity` when blocked. */
  declare readonly resetAfterMs: number;
  /** Which failure policy decided and why the store did not; undefined when the store made the strictest decision. */
  declare readonly failure: Failure | undefined;
  /** `deadline` when the request was denied because its caller would have given up before it could begin. */
  declare readonly reason: 'deadline' | undefined;
  readonly #request: unknown;
  readonly #parts: MiddlewareDecision[];
  /** Undefined until there is a decision. */
  #strictest: Decision | undefined;

  static {
    for (const name of FIGURES)
      Object.defineProperty(this.prototype, name, {
        get(this: RequestDecision): unknown {
          return this.#strictest![name];
        },
      });
    showAsJson(this.prototype);
  }

  /** @param request - The framework's request. */
  constructor(request?: unknown, ...parts: MiddlewareDecision[]) {
    this.#request = request;
    this.#parts = parts;
    this.#strictest = parts[0]?.decision;
  }

  /** Adds the decision of a middleware. */
  add(part: MiddlewareDecision): void {
    this.#parts.push(part);
    this.#strictest = strictestDecision(this.#parts.map(({ decision }) => decision));
  }

  /** Milliseconds for which the limits with `maxWait` have delayed the request, those of all middlewares together. */
  get delayMs(): number {
    return this.#parts.reduce((sum, { decision }) => sum + decision.delayMs, 0);
  }

  /** The results of all middlewares, in the order in which they decided. */
  get results(): readonly Result[] {
    const parts = this.#parts;
    return parts.length === 1 ? parts[0]!.decision.results : parts.flatMap(({ decision }) => decision.results);
  }

  /**
   * Returns the result of one limit, as the last middleware with it decided; undefined if the limit did not apply to the
   * request: its key returned `null`, or the id is unlimited.
   *
   *     res.json({ loginsLeft: req.rateLimit.of('Logins')?.remaining });
   *
   * @param limit - The name of a limit. A middleware with a limit of its own has it as its option `name`.
   * @throws {SluiceError} `ERR_UNKNOWN_LIMIT` for a limit that no middleware of this request uses.
   */
  of(limit: string): Result | undefined {
    this.#assertMet(limit);
    return this.results.filter((result) => result.limit === limit).at(-1);
  }

  /** Returns all properties, with the results, for `JSON.stringify`. */
  toJSON(): object {
    const figures = Object.fromEntries(FIGURES.map((name) => [name, this[name]]));
    return { ...figures, delayMs: this.delayMs, results: this.results };
  }

  /**
   * Gives back the tokens that the decisions on this request took, once, but not those of `charge`, and no slots. For handlers that
   * find that no work was done.
   */
  async refund(): Promise<void> {
    await Promise.all(this.#parts.map(({ decision, limiter }) => limiter.refund(decision)));
  }

  /**
   * Takes further tokens, whether they fit or not. For handlers that learn the cost later.
   *
   * @param tokens - A whole number of at least 0.
   * @param limit - The name of a limit. Default: every limit that applied to the request, except concurrency limits and load limits. Nothing is taken for a limit
   * that did not apply (its key returned `null`, or the id is unlimited) or that was not decided.
   * @throws {SluiceError} `ERR_COST` for an invalid number, `ERR_UNKNOWN_LIMIT` for a limit that no middleware of this
   * request uses, `ERR_OPTION` for a concurrency limit or a load limit.
   */
  async charge(tokens: number, limit?: string): Promise<void> {
    if (limit !== undefined) {
      this.#assertMet(limit);
      for (const part of this.#parts)
        if (part.limits.some((use) => use.limit === limit)) part.limiter.assertCharged(limit);
    }
    const charges = new Map<RequestLimiter<never>, Map<string, Result>>();
    for (const { decision, limiter } of this.#parts) {
      const buckets = charges.get(limiter) ?? new Map<string, Result>();
      charges.set(limiter, buckets);
      // A bucket that several middlewares used is charged once.
      for (const result of decision.results) {
        if (limit === undefined || result.limit === limit) buckets.set(bucketKey(result.limit, result.id), result);
      }
    }
    const charge = { cost: tokens, request: this.#request };
    const charged = [...charges].map(([limiter, buckets]) => limiter.chargeResults([...buckets.values()], charge));
    await Promise.all(charged);
  }

  #assertMet(limit: string): void {
    const met = this.#parts.flatMap(({ limits }) => limits.map((use) => use.limit));
    if (met.includes(limit)) return;
    throw new SluiceError(
      'ERR_UNKNOWN_LIMIT',
      `This request meets no limit named ${shown(limit)}. Its limits: ${listed(met)}.`,
    );
  }
}
