import { allEnded, andThen, attempt, Rejected, type Awaitable } from '../async/awaitable.ts';
import { bucketStates } from '../decision/decide.ts';
import { movedTokens } from '../decision/moved-tokens.ts';
import { tokensTaken } from '../decision/results.ts';
import type { Decided } from '../decision/decided.ts';
import { periodLeft } from '../decision/period-left.ts';
import type { BucketState, Result } from '../decision/result.ts';
import { complaint, SluiceError } from '../checks/errors.ts';
import type { Changed } from '../decision/batch-answer.ts';
import type { StoreGate } from '../failure/store-gate.ts';
import { nowTicksAt, type StoreRefund } from '../store/store.ts';
import type { Reports } from './reports.ts';
import { levelAfter } from '../store/transaction-rule.ts';
import { changed, type Transaction } from '../decision/transaction.ts';

type Refund = Transaction & StoreRefund;

/** The tokens that a decision took from one bucket. */
interface SpentFromBucket {
  readonly transaction: Transaction;
  /** The result that the tokens belong to. A limit that borrows took tokens from several buckets. */
  readonly result: Result;
  /** The bucket's TAT right after the decision, minus what was refunded since. Below 0, it names a lease that paid. */
  tatAfterSpendTicks: number;
  /** Tokens of this decision that are still spent, without those of a refund in progress. */
  tokens: number;
  /** When the period ends in which they were spent, of a quota. */
  readonly endMs: number | undefined;
  /** Whether a refund has found that period over, by the clock of the store: nothing can be given back any more. */
  hasEnded: boolean;
  /** Whether a refund got no answer. The store may have given its tokens back, although they count as spent. */
  hasLostRefund: boolean;
}

interface SpentPart {
  readonly from: SpentFromBucket;
  readonly tokens: number;
}

/** What a {@link SpentTokens} uses of the limiter that made the decision. */
interface SpentTokensParts {
  readonly gate: StoreGate;
  readonly reports: Pick<Reports<never>, 'corrected' | 'hasCorrectionListener'>;
}

/** A number of tokens at a limit. */
export interface LimitCost {
  readonly limit: string;
  readonly cost: number;
}

/**
 * Tracks the tokens that a decision took, so that each token is given back at most once. A token counts as given back
 * when the store has accepted the refund. After a lost refund, only the caller can try again, at the risk that the store
 * gave the tokens back and its answer was late. A settlement does not take that risk.
 */
export class SpentTokens {
  readonly #decision: Decided;
  readonly #parts: SpentTokensParts;
  readonly #buckets: readonly SpentFromBucket[];
  readonly #refunds = new Set<Promise<unknown>>();

  constructor(decision: Decided, parts: SpentTokensParts) {
    this.#decision = decision;
    this.#parts = parts;
    this.#buckets = spentBy(decision);
  }

  /** Gives back all tokens that are still spent, except those of another refund in progress. */
  refund(): Awaitable<readonly BucketState[]> {
    return this.#giveBack(({ tokens }) => tokens);
  }

  /** Whether the answer to a refund is still to come. */
  get isRefunding(): boolean {
    return this.#refunds.size > 0;
  }

  /** Resolves when the refunds in progress have ended. */
  refundsEnded(): Promise<unknown> {
    return Promise.allSettled(this.#refunds);
  }

  /** How many tokens are still spent at one limit. */
  spentAt(limit: string): number {
    return this.#bucketsOf(limit).reduce((most, { tokens }) => Math.max(most, tokens), 0);
  }

  /**
   * Refunds what was spent at one limit above the true cost, unless an earlier refund was lost: the store may have given
   * those tokens back.
   */
  settleTo({ limit, cost }: LimitCost): Awaitable<unknown> {
    return this.#giveBack(({ hasLostRefund, result, tokens }) =>
      hasLostRefund || result.limit !== limit ? 0 : tokens - cost,
    );
  }

  /** Whether the period in which a quota was spent has ended, as a refund has found. */
  hasEndedAt(limit: string): boolean {
    return this.#bucketsOf(limit).some(({ hasEnded }) => hasEnded);
  }

  #bucketsOf(limit: string): readonly SpentFromBucket[] {
    return this.#buckets.filter(({ result }) => result.limit === limit);
  }

  /** Gives back tokens of each bucket, in one call of the store. */
  #giveBack(tokensOf: (from: SpentFromBucket) => number): Awaitable<readonly BucketState[]> {
    const { gate, reports } = this.#parts;
    const { store } = this.#decision.origin;
    const parts: SpentPart[] = [];
    for (const from of this.#buckets) {
      const tokens = from.hasEnded ? 0 : tokensOf(from);
      if (tokens > 0) parts.push({ from, tokens });
    }
    if (store === undefined || parts.length === 0) return [];
    const refunds = parts.map(refundOf);
    // Subtracted before the store is called, so that of two concurrent refunds only one gives the tokens back.
    take(parts, 1);
    const accept = (given: Changed<Refund> | Rejected): readonly BucketState[] => {
      if (given instanceof Rejected) {
        take(parts, -1);
        throw given.cause;
      }
      const { batch, reading } = given;
      if (batch.length === 0) {
        // The store could not answer; the gate has emitted an event.
        take(parts, -1);
        for (const { from } of parts) from.hasLostRefund = true;
      } else {
        const ended = parts.filter(({ from }, i) => periodLeft(batch[i]!, reading, i)?.endMs !== from.endMs);
        take(ended, -1);
        for (const { from } of ended) from.hasEnded = true;
      }
      if (reports.hasCorrectionListener) {
        const moved = batch.length === 0 ? undefined : movedTokens(batch, reading, 'refund');
        const all = parts.map(({ from, tokens }, i) => ({ from, tokens: moved?.[i] ?? tokens }));
        reports.corrected(
          moved === undefined ? 'lost' : 'refunded',
          byResult(all.filter(({ from }) => !from.hasEnded)),
        );
      }
      return bucketStates(batch, reading);
    };
    const given = attempt(() => gate.refund(store, refunds));
    return given instanceof Promise ? this.#tracked(given.then(accept)) : accept(given);
  }

  #tracked<T>(refund: Promise<T>): Promise<T> {
    const end = (): unknown => this.#refunds.delete(refund);
    this.#refunds.add(refund);
    refund.then(end, end);
    return refund;
  }
}

/**
 * Refunds what was spent at each limit above the true cost, by a decision and by the charges that corrected it, the last one
 * first: its tokens are the last to refill. Refunds in progress are awaited first.
 *
 * Each limit has a refund of its own, because a store with several servers may lose one of them and accept the others. All
 * begin in the same turn of the event loop, so that a store can send them together.
 *
 * @param chain - The tokens of the decision, and of each charge.
 * @returns The tokens still to be charged at each limit because less than the true cost was spent; otherwise 0.
 */
export function settleAll(
  chain: readonly SpentTokens[],
  trueCosts: readonly LimitCost[],
): Awaitable<readonly LimitCost[]> {
  // Another refund may begin meanwhile.
  if (trueCosts.length > 0 && chain.some(({ isRefunding }) => isRefunding))
    return Promise.all(chain.map((each) => each.refundsEnded())).then(() => settleAll(chain, trueCosts));
  // From here on nothing is awaited until all is taken back, so that no other refund takes the same tokens.
  let missing = trueCosts;
  const refunds = chain.map((each) => {
    const kept = missing;
    missing = kept.map(({ limit, cost }) => ({ limit, cost: Math.max(0, cost - each.spentAt(limit)) }));
    return () => allEnded(kept.map((one) => each.settleTo(one)));
  });
  return andThen(allEnded(refunds.toReversed().map((refund) => refund())), () => missing);
}

/** How many tokens are still spent at one limit, by a decision and by the charges that corrected it. */
export function spentAt(chain: readonly SpentTokens[], limit: string): number {
  return chain.reduce((sum, each) => sum + each.spentAt(limit), 0);
}

/** @param sign - 1 to subtract tokens for a refund, -1 to add them again because the store did not accept it. */
function take(parts: readonly SpentPart[], sign: 1 | -1): void {
  for (const { from, tokens } of parts) {
    from.tokens -= sign * tokens;
    if (from.tatAfterSpendTicks >= 0)
      from.tatAfterSpendTicks -= sign * tokens * from.transaction.rate.emissionIntervalTicks;
  }
}

/** The tokens of each result: those of a limit that borrows are in several buckets. */
function byResult(parts: readonly SpentPart[]): readonly LimitCost[] {
  const costs = new Map<Result, number>();
  for (const { from, tokens } of parts) costs.set(from.result, Math.max(costs.get(from.result) ?? 0, tokens));
  return Array.from(costs, ([{ limit }, cost]) => ({ limit, cost }));
}

function refundOf({ from: { transaction, tatAfterSpendTicks }, tokens }: SpentPart): Refund {
  const incrementTicks = tokens * transaction.rate.emissionIntervalTicks;
  return changed(transaction, { cost: tokens, incrementTicks, tatAfterSpendTicks });
}

function spentBy(decision: Decided): readonly SpentFromBucket[] {
  if (decision.origin.store === undefined) return [];
  // `check` took nothing.
  if (decision.results.every(({ spent }) => spent === 0)) return [];
  const { batch } = decision;
  const results = resultsOf(batch, decision.results);
  const spent: SpentFromBucket[] = [];
  for (const [i, transaction] of batch.entries()) {
    const level = decision.levelsTicks[i]!;
    const tokens = tokensTaken(transaction, level);
    // What is held is released, and not given back.
    if (tokens === 0 || transaction.rate.kind.level === 'held') continue;
    spent.push({
      transaction,
      result: results[i]!,
      tatAfterSpendTicks: nowTicksAt(decision, i) + levelAfter(transaction, level),
      tokens,
      endMs: periodLeft(transaction, decision, i)?.endMs,
      hasEnded: false,
      hasLostRefund: false,
    });
  }
  return spent;
}

/** Returns the result of each transaction. The pairs of ceiling and pool follow after those with results. */
function resultsOf(batch: readonly Transaction[], results: readonly Result[]): readonly Result[] {
  const loans = results.filter((_, i) => batch[i]!.treatment.part === 'assured');
  return [...results, ...loans.flatMap((result) => [result, result])];
}

/**
 * Creates the error for a decision of another limiter. This limiter knows neither its buckets nor its earlier refunds.
 */
export function foreignDecision(): SluiceError {
  return new SluiceError(
    'ERR_FOREIGN_DECISION',
    'This decision was made by another limiter. Only that limiter can give its tokens back: call refund(decision) on it. ' +
      'To give tokens of this limiter to an id, name its bucket: refund([{ limit, id, cost }]).',
  );
}

/** Creates the error for an argument that is neither a decision nor an array of entries. */
export function notRefundable(value: unknown): SluiceError {
  return complaint('ERR_OPTION', {
    option: 'refund',
    demand: 'given a decision of spend(), or an array of entries',
    value,
    remedy:
      "For example [{ limit: 'Orders', id: '12345678', cost: 1 }]. To refund the decision on a request: await req.rateLimit?.refund().",
  });
}
