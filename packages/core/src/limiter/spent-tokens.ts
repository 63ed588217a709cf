import type { Awaitable } from '../async/awaitable.ts';
import { bucketStates } from '../decision/decide.ts';
import { Decision, type BucketState } from '../decision/decision.ts';
import { complaint, SluiceError } from '../checks/errors.ts';
import type { Changed } from '../decision/batch-answer.ts';
import type { StoreGate } from '../failure/store-gate.ts';
import { nowTicksAt, type StoreRefund } from '../store/store.ts';
import type { Transaction } from '../decision/transaction.ts';

type Refund = Transaction & StoreRefund;

/** What a decision took from one bucket. */
interface SpentFromBucket {
  readonly transaction: Transaction;
  /** Where the bucket's TAT would be by this decision alone: each refund brings it nearer. */
  tatAfterSpendTicks: number;
  /** Tokens of this decision that are taken, without those that a refund is giving back at this moment. */
  tokens: number;
}

interface Part {
  readonly from: SpentFromBucket;
  readonly tokens: number;
}

/**
 * What a decision took from its buckets, so that each token is given back at most once. Tokens count as given back when
 * the store has accepted them: after a refund that failed they can be given back by another one.
 */
export class SpentTokens {
  readonly #decision: Decision;
  readonly #gate: StoreGate;
  readonly #buckets: readonly SpentFromBucket[];

  /** @param gate - That of the limiter that made the decision. */
  constructor(decision: Decision, gate: StoreGate) {
    this.#decision = decision;
    this.#gate = gate;
    this.#buckets = spentBy(decision);
  }

  /** Gives back all tokens that are still taken. While another refund is giving them back it gives nothing. */
  refund(): Awaitable<readonly BucketState[]> {
    return this.#giveBack(this.#buckets.map((from) => ({ from, tokens: from.tokens })));
  }

  /**
   * Brings what is taken by one limit down to the true cost.
   *
   * @returns `missing`: tokens that are still to be charged; 0 when the true cost was taken or less.
   */
  settleTo(limit: string, trueCost: number): { given: Awaitable<unknown>; missing: number } {
    const from = this.#buckets.find(({ transaction }) => transaction.limit === limit);
    if (from === undefined) return { given: undefined, missing: trueCost };
    const surplus = from.tokens - trueCost;
    if (surplus <= 0) return { given: undefined, missing: -surplus };
    return { given: this.#giveBack([{ from, tokens: surplus }]), missing: 0 };
  }

  #giveBack(all: readonly Part[]): Awaitable<readonly BucketState[]> {
    const ruling = Decision.rulingOf(this.#decision);
    const parts = all.filter(({ tokens }) => tokens > 0);
    if (!ruling.available || parts.length === 0) return [];
    const refunds = parts.map(refundOf);
    // Taken out of the books before the store is called: of two refunds at the same time only one gives back.
    take(parts, 1);
    const accept = ({ batch, reading }: Changed<Refund>): readonly BucketState[] => {
      // The store could not answer: the gate has reported it.
      if (batch.length === 0) take(parts, -1);
      return bucketStates(batch, reading);
    };
    const fail = (cause: unknown): never => {
      take(parts, -1);
      throw cause;
    };
    try {
      const given = this.#gate.refund(ruling.store, refunds);
      return given instanceof Promise ? given.then(accept, fail) : accept(given);
    } catch (cause) {
      return fail(cause);
    }
  }
}

/** @param sign - 1 when the tokens are on their way back, -1 when the store did not accept them. */
function take(parts: readonly Part[], sign: 1 | -1): void {
  for (const { from, tokens } of parts) {
    from.tokens -= sign * tokens;
    from.tatAfterSpendTicks -= sign * tokens * from.transaction.rate.emissionIntervalTicks;
  }
}

function refundOf({ from: { transaction, tatAfterSpendTicks }, tokens }: Part): Refund {
  return {
    ...transaction,
    cost: tokens,
    incrementTicks: tokens * transaction.rate.emissionIntervalTicks,
    tatAfterSpendTicks,
  };
}

function spentBy(decision: Decision): readonly SpentFromBucket[] {
  const ruling = Decision.rulingOf(decision);
  if (!ruling.available) return [];
  const { batch, reading } = ruling;
  return decision.results.flatMap(({ spent: tokens }, i) => {
    const transaction = batch[i]!;
    const tatAfterSpendTicks = nowTicksAt(reading, i) + reading.levelsTicks[i]! + transaction.incrementTicks;
    return tokens === 0 ? [] : [{ transaction, tatAfterSpendTicks, tokens }];
  });
}

/** The error for a decision of another limiter, which knows neither its buckets nor what of it was given back. */
export function foreignDecision(): SluiceError {
  return new SluiceError(
    'ERR_FOREIGN_DECISION',
    'This decision was made by another limiter. Only that limiter can give its tokens back: call refund(decision) on it. ' +
      'To give tokens of this limiter to an id, name its bucket: refund([{ limit, id, cost }]).',
  );
}

/** The error for something else than a decision or entries. */
export function notRefundable(value: unknown): SluiceError {
  return complaint('ERR_OPTION', {
    option: 'refund',
    demand: 'given a decision of spend(), or an array of entries',
    value,
    remedy:
      "For example [{ limit: 'Orders', id: '12345678', cost: 1 }]. To refund the decision on a request: await req.rateLimit?.refund().",
  });
}
