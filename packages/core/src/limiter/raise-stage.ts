import { allOf, andThen, type Awaitable } from '../async/awaitable.ts';
import type { Decided } from '../decision/decided.ts';
import type { DecisionCall, Rest, Stage } from '../decision/stage.ts';
import type { Batch } from '../decision/transaction.ts';
import type { LimitSet } from '../definitions/limit-set.ts';
import type { StoreGate } from '../failure/store-gate.ts';
import type { RaisedLimits } from './raised-limits.ts';

/** The parts of a {@link RaiseStage}. */
interface RaiseStageParts {
  readonly raised: RaisedLimits;
  readonly gate: StoreGate;
  /** The limits in effect. */
  readonly limits: { readonly set: LimitSet<never> };
}

/**
 * Cuts the debts from before a raise that a decision has met. Decides again if nothing was taken, because such a debt may
 * have denied it.
 */
export class RaiseStage implements Stage {
  readonly concerns: Stage['concerns'] = () => this.#parts.raised.remembersAny();
  readonly #parts: RaiseStageParts;

  constructor(parts: RaiseStageParts) {
    this.#parts = parts;
  }

  get isActive(): boolean {
    return this.#parts.raised.isActive;
  }

  decide(_: DecisionCall, batch: Batch, rest: Rest): Awaitable<Decided> {
    const decide = (): Awaitable<Decided> => rest.decide(batch);
    return andThen(decide(), (first) =>
      andThen(this.#cutDebts(first), (wasCut) => (wasCut && tookNothing(first) ? decide() : first)),
    );
  }

  // Debts may have denied any of them.
  decideFirst(_: DecisionCall, batches: readonly Batch[], rest: Rest): Awaitable<readonly Decided[]> {
    const decide = (): Awaitable<readonly Decided[]> => rest.decideFirst(batches);
    return andThen(decide(), (tried) =>
      andThen(allOf(tried.map((one) => this.#cutDebts(one))), (wereCut) =>
        wereCut.includes(true) && tried.every(tookNothing) ? decide() : tried,
      ),
    );
  }

  #cutDebts(decision: Decided): Awaitable<boolean> {
    const { raised, gate, limits } = this.#parts;
    return raised.cutDebts(decision, limits.set, (batch) => gate.run({ kind: 'cap', batch }));
  }
}

function tookNothing({ results }: Decided): boolean {
  return results.every(({ spent }) => spent === 0);
}
