import { andThen, type Awaitable } from './awaitable.ts';
import { bucketStates } from './decide.ts';
import { Decision, type BucketState } from './decision.ts';
import type { StoreGate } from './failure/store-gate.ts';
import { nowTicksAt } from './store.ts';
import { MAX_TOLERANCE_TICKS } from './ticks.ts';
import type { Transaction } from './transaction.ts';

interface Line {
  readonly transaction: Transaction;
  /** Where the bucket's TAT would be by this decision alone: each refund brings it nearer. */
  tatAfterSpendTicks: number;
  /** Tokens of this decision that are still taken. */
  held: number;
}

/** What a decision took from its buckets, so that each token is given back at most once. */
export class Receipt {
  readonly #decision: Decision;
  readonly #gate: StoreGate;
  readonly #lines: readonly Line[];

  constructor(decision: Decision, gate: StoreGate) {
    this.#decision = decision;
    this.#gate = gate;
    this.#lines = linesOf(decision);
  }

  /** Gives back all that is still held. */
  refund(): Awaitable<readonly BucketState[]> {
    return this.#giveBack(this.#lines.map((line) => ({ line, tokens: line.held })));
  }

  /**
   * Corrects what one limit holds to the true cost, as far as that is giving back.
   *
   * @returns Tokens that are still to be charged; 0 when the true cost was held or less.
   */
  lower(limit: string, trueCost: number): { given: Awaitable<unknown>; missing: number } {
    const line = this.#lines.find(({ transaction }) => transaction.limit === limit);
    if (line === undefined) return { given: undefined, missing: trueCost };
    const surplus = line.held - trueCost;
    if (surplus <= 0) return { given: undefined, missing: -surplus };
    return { given: this.#giveBack([{ line, tokens: surplus }]), missing: 0 };
  }

  #giveBack(parts: readonly { line: Line; tokens: number }[]): Awaitable<readonly BucketState[]> {
    const ruling = Decision.rulingOf(this.#decision);
    const refunds = parts
      .filter(({ tokens }) => tokens > 0)
      .map(({ line: { transaction, tatAfterSpendTicks }, tokens }) => ({
        ...transaction,
        cost: tokens,
        incrementTicks: tokens * transaction.rate.emissionIntervalTicks,
        // The limit may have been raised since: the tolerance of the old numbers must not cut what is owed by the new.
        toleranceTicks: MAX_TOLERANCE_TICKS,
        tatAfterSpendTicks,
      }));
    for (const { line, tokens } of parts) {
      line.held -= tokens;
      line.tatAfterSpendTicks -= tokens * line.transaction.rate.emissionIntervalTicks;
    }
    if (!ruling.available || refunds.length === 0) return [];
    return andThen(this.#gate.refund(ruling.store, refunds), (given) => bucketStates(given.batch, given.reading));
  }
}

function linesOf(decision: Decision): Line[] {
  const ruling = Decision.rulingOf(decision);
  if (!ruling.available) return [];
  const { batch, reading } = ruling;
  return decision.results.flatMap(({ spent }, i) => {
    const transaction = batch[i]!;
    const tatAfterSpendTicks = nowTicksAt(reading, i) + reading.levelsTicks[i]! + transaction.incrementTicks;
    return spent === 0 ? [] : [{ transaction, tatAfterSpendTicks, held: spent }];
  });
}
