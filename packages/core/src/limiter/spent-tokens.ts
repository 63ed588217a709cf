import type { Awaitable } from '../async/awaitable.ts';
import { bucketStates } from '../decision/decide.ts';
import { tokensTaken } from '../decision/results.ts';
import { Decision } from '../decision/decision.ts';
import type { BucketState } from '../decision/result.ts';
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
  /** The index of the result that the tokens belong to. A limit that borrows took tokens from several buckets. */
  readonly resultIndex: number;
  /** The bucket's TAT right after the decision, minus what was refunded since. */
  tatAfterSpendTicks: number;
  /** Tokens of this decision that are still spent, without those of a refund in progress. */
  tokens: number;
  /** Whether a refund got no answer. The store may have given its tokens back, although they count as spent. */
  hasLostRefund: boolean;
}

interface Part {
  readonly from: SpentFromBucket;
  readonly tokens: number;
}

/**
 * Tracks the tokens that a decision took, so that each token is given back at most once. A token counts as given back
 * when the store has accepted the refund. After a lost refund, only the caller can try again, at the risk that the store
 * gave the tokens back and its answer was late. A settlement does not take that risk.
 */
export class SpentTokens {
  readonly #decision: Decision;
  readonly #gate: StoreGate;
  readonly #reports: Pick<Reports<never>, 'corrected'>;
  readonly #buckets: readonly SpentFromBucket[];
  readonly #refunds = new Set<Promise<unknown>>();

  /** @param gate - The gate of the limiter that made the decision. */
  constructor(decision: Decision, gate: StoreGate, reports: Pick<Reports<never>, 'corrected'>) {
    this.#decision = decision;
    this.#gate = gate;
    this.#reports = reports;
    this.#buckets = spentBy(decision);
  }

  /** Gives back all tokens that are still spent, except those of another refund in progress. */
  refund(): Awaitable<readonly BucketState[]> {
    return this.#giveBack(this.#buckets.map((from) => ({ from, tokens: from.tokens })));
  }

  /**
   * Refunds what was spent at one limit above the true cost, unless an earlier refund was lost: the store may have given
   * those tokens back. Refunds in progress are awaited first.
   *
   * @returns The tokens still to be charged because less than the true cost was spent; otherwise 0.
   */
  async settleTo(limit: string, trueCost: number): Promise<number> {
    // oxlint-disable-next-line no-await-in-loop -- another refund may begin meanwhile
    while (this.#refunds.size > 0) await Promise.allSettled(this.#refunds);
    const index = this.#decision.results.findIndex((result) => result.limit === limit);
    const all = this.#buckets.filter(({ resultIndex }) => resultIndex === index);
    const spent = Math.max(0, ...all.map(({ tokens }) => tokens));
    const certain = all.filter(({ hasLostRefund }) => !hasLostRefund);
    await this.#giveBack(certain.map((from) => ({ from, tokens: from.tokens - trueCost })));
    return Math.max(0, trueCost - spent);
  }

  #giveBack(all: readonly Part[]): Awaitable<readonly BucketState[]> {
    const answer = Decision.answerOf(this.#decision);
    if (!answer.available || all.every(({ tokens }) => tokens <= 0)) return [];
    const parts = all.filter(({ tokens }) => tokens > 0);
    const refunds = parts.map(refundOf);
    // Subtracted before the store is called, so that of two concurrent refunds only one gives the tokens back.
    take(parts, 1);
    const accept = ({ batch, reading }: Changed<Refund>): readonly BucketState[] => {
      if (batch.length === 0) {
        // The store could not answer; the gate has emitted an event.
        take(parts, -1);
        for (const { from } of parts) from.hasLostRefund = true;
      }
      this.#reports.corrected(batch.length === 0 ? 'lost' : 'refunded', this.#byResult(parts));
      return bucketStates(batch, reading);
    };
    const fail = (cause: unknown): never => {
      take(parts, -1);
      throw cause;
    };
    try {
      const given = this.#gate.refund(answer.store, refunds);
      return given instanceof Promise ? this.#tracked(given.then(accept, fail)) : accept(given);
    } catch (cause) {
      return fail(cause);
    }
  }

  /** The tokens of each result: those of a limit that borrows are in several buckets. */
  #byResult(parts: readonly Part[]): readonly { readonly limit: string; readonly cost: number }[] {
    return this.#decision.results.flatMap(({ limit }, i) => {
      const cost = Math.max(0, ...parts.map(({ from, tokens }) => (from.resultIndex === i ? tokens : 0)));
      return cost === 0 ? [] : [{ limit, cost }];
    });
  }

  #tracked<T>(refund: Promise<T>): Promise<T> {
    const end = (): unknown => this.#refunds.delete(refund);
    this.#refunds.add(refund);
    refund.then(end, end);
    return refund;
  }
}

/** @param sign - 1 to subtract tokens for a refund, -1 to add them again because the store did not accept it. */
function take(parts: readonly Part[], sign: 1 | -1): void {
  for (const { from, tokens } of parts) {
    from.tokens -= sign * tokens;
    from.tatAfterSpendTicks -= sign * tokens * from.transaction.rate.emissionIntervalTicks;
  }
}

function refundOf({ from: { transaction, tatAfterSpendTicks }, tokens }: Part): Refund {
  const incrementTicks = tokens * transaction.rate.emissionIntervalTicks;
  return Object.assign(changed(transaction, { cost: tokens, incrementTicks }), { tatAfterSpendTicks });
}

function spentBy(decision: Decision): readonly SpentFromBucket[] {
  const answer = Decision.answerOf(decision);
  if (!answer.available) return [];
  // `check` took nothing.
  if (decision.results.every(({ spent }) => spent === 0)) return [];
  const { batch, reading } = answer;
  const results = resultIndexes(batch, decision.results.length);
  return batch.flatMap((transaction, i) => {
    const level = reading.levelsTicks[i]!;
    const tokens = tokensTaken(transaction, level);
    const tatAfterSpendTicks = nowTicksAt(reading, i) + levelAfter(transaction, level);
    // Slots are released, and not given back.
    return tokens === 0 || transaction.slots
      ? []
      : [{ transaction, resultIndex: results[i]!, tatAfterSpendTicks, tokens, hasLostRefund: false }];
  });
}

/** Returns the index of the result of each transaction. The pairs of ceiling and pool follow after those with results. */
function resultIndexes(batch: readonly Transaction[], count: number): readonly number[] {
  const own = [...batch.keys()].slice(0, count);
  const loans = own.filter((i) => batch[i]!.treatment.part === 'assured');
  return [...own, ...loans.flatMap((i) => [i, i])];
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
