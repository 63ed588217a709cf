// Core itself, from its modules: what is left out is what a page has no use for, such as stores that can fail. A test
// compares each decision and each header field with those of createLimiter and of a middleware.
import { checkCost, checkCostFits, transactionOf } from '../../packages/core/src/decision/batch.ts';
import { Decided } from '../../packages/core/src/decision/decided.ts';
import type { Decision } from '../../packages/core/src/decision/decision.ts';
import type { Result } from '../../packages/core/src/decision/result.ts';
import type { Transaction } from '../../packages/core/src/decision/transaction.ts';
import { denialOf, type Answer } from '../../packages/core/src/http/denial.ts';
import { checkedFields, retryAfterSeconds, writeFields } from '../../packages/core/src/http/fields.ts';
import { defineLimits } from '../../packages/core/src/definitions/define-limits.ts';
import type { Limit } from '../../packages/core/src/limits/limit.ts';
import { Use } from '../../packages/core/src/limits/use.ts';
import { memoryStore } from '../../packages/core/src/store/memory/memory-store.ts';
import { FakeTime } from '../../packages/core/src/testing/fake-time.ts';
import { definitionsOf, NAMES, type Arrival, type Case } from './case.ts';

/** What one limit has left after a request. */
export interface Left {
  readonly remaining: number;
  /** Milliseconds until the bucket is full. */
  readonly fullAfterMs: number;
}

/** What a client gets for one request. */
export interface Step extends Arrival {
  readonly status: 200 | 400 | 429;
  /** For how long the request waited in the queue, in milliseconds. */
  readonly delayMs: number;
  readonly retryAfterMs: number;
  /** In the order of the limits; null for one into which the cost can never fit. */
  readonly left: readonly (Left | null)[];
  readonly fields: readonly (readonly [name: string, value: string])[];
  /** That of a denial, or the error of a request that can never pass. */
  readonly body: string;
}

const NOT_DECIDED = { delayMs: 0, retryAfterMs: Infinity };

/** The limits of a case, whose buckets are full. */
export class Core {
  readonly limits: readonly Limit[];
  readonly #time = new FakeTime();
  readonly #store = memoryStore({ time: this.#time });

  /** @throws {SluiceError} What is wrong with the numbers. */
  constructor(given: Pick<Case, 'limits'>) {
    const limits = defineLimits(definitionsOf(given), 'local');
    this.limits = [...limits.values()];
  }

  /** Decides requests in the order of time. */
  decide(arrivals: readonly Arrival[]): readonly Step[] {
    return arrivals.map((arrival) => this.#step(arrival));
  }

  #step({ atMs, cost }: Arrival): Step {
    this.#time.set(atMs);
    const { decision, failure } = this.#spend(cost);
    const { delayMs, retryAfterMs } = decision ?? NOT_DECIDED;
    const left = this.limits.map(({ name }) => leftOf(decision?.results.find(({ limit }) => limit === name)));
    const fields: Record<string, string> = {};
    // A request that ends with an error does not wait.
    const queuedMs = failure === undefined ? delayMs : 0;
    const denial = decision === undefined ? undefined : this.#answer(decision, queuedMs, fields);
    if (denial === undefined && failure !== undefined) {
      const body = failure instanceof Error ? failure.message : 'unknown';
      return {
        atMs,
        cost,
        status: 400,
        delayMs: 0,
        retryAfterMs: Infinity,
        left,
        fields: Object.entries(fields),
        body,
      };
    }
    return {
      atMs,
      cost,
      status: denial === undefined ? 200 : 429,
      delayMs,
      retryAfterMs,
      left,
      fields: Object.entries({ ...fields, ...denial?.fields }),
      body: denial?.body ?? '',
    };
  }

  /** Writes the fields of a decision. Returns the answer to a request that is denied. */
  #answer(decision: Decision, queuedMs: number, fields: Record<string, string>): Answer | undefined {
    const retryAfter = decision.allowed ? 0 : retryAfterSeconds(decision, 0);
    const response = {
      decision,
      getField: (name: string) => fields[name],
      setField: (name: string, value: string) => void (fields[name] = value),
    };
    const dialect = checkedFields();
    writeFields(decision, response, { dialect, retryAfter, queuedMs, time: this.#time });
    return decision.allowed ? undefined : denialOf(decision, retryAfter);
  }

  /** As in a middleware, a cost that fits into no bucket of one limit does not keep the others from being taken from. */
  #spend(cost: number): { readonly decision: Decision | undefined; readonly failure: unknown } {
    let failure: unknown;
    const batch = this.limits.flatMap((limit) => {
      try {
        return [transactionFor(new Use(limit, cost, 'check-and-spend', 1))];
      } catch (error) {
        failure ??= error;
        return [];
      }
    });
    if (batch.length === 0) return { decision: undefined, failure };
    const reading = this.#store.run({ kind: 'spend', alternatives: [batch] });
    const origin = { owner: this, takes: true, store: this.#store, failure: undefined };
    return { decision: new Decided(batch, origin, reading), failure };
  }
}

/**
 * The cost of requests that are sent by hand.
 *
 * @throws {SluiceError} When the typed text is not a cost.
 */
export function checkedCost(text: string): number {
  const cost = text.trim() === '' ? Number.NaN : Number(text);
  checkCost(NAMES[0], cost);
  return cost;
}

const WITHOUT_OVERRIDES = { rateFor: ({ rate }: Limit<never>) => rate };

function transactionFor(use: Use): Transaction {
  // Synchronous and never unlimited, because there are no overrides.
  const transaction = transactionOf(WITHOUT_OVERRIDES, use, 'everyone', undefined) as Transaction;
  checkCostFits(transaction);
  return transaction;
}

function leftOf(result: Result | undefined): Left | null {
  return result === undefined ? null : { remaining: result.remaining, fullAfterMs: result.resetAfterMs };
}
