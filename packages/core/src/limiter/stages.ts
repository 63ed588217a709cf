import { andThen, type Awaitable } from '../async/awaitable.ts';
import type { Decided } from '../decision/decided.ts';
import type { DecisionCall, Rest, Stage } from '../decision/stage.ts';
import type { Batch } from '../decision/transaction.ts';
import type { StoreGate } from '../failure/store-gate.ts';

/** The stages of an array from one on, and after them the store. */
export class Stages implements Rest {
  readonly owner: StoreGate;
  readonly #call: DecisionCall;
  readonly #stages: readonly Stage[];
  /** For each stage, those after it. */
  readonly #after: readonly Stages[];

  private constructor(call: DecisionCall, stages: readonly Stage[], after: readonly Stages[], gate: StoreGate) {
    this.owner = gate;
    this.#call = call;
    this.#stages = stages;
    this.#after = after;
  }

  /** @param gate - The way to the store. */
  static of(call: DecisionCall, stages: readonly Stage[], gate: StoreGate): Stages {
    const after = stages.length === 0 ? [] : [Stages.of(call, stages.slice(1), gate)];
    return new Stages(
      call,
      stages,
      after.flatMap((rest) => [rest, ...rest.#after]),
      gate,
    );
  }

  decide(batch: Batch): Awaitable<Decided> {
    const stages = this.#stages;
    for (let i = 0; i < stages.length; i++) {
      const stage = stages[i]!;
      if (stage.isActive && concernsAny(stage, batch)) return stage.decide(this.#call, batch, this.#after[i]!);
    }
    return this.owner.decide(this.#call, batch);
  }

  decideFirst(batches: readonly Batch[]): Awaitable<readonly Decided[]> {
    if (batches.length === 1) return andThen(this.decide(batches[0]!), (decision) => [decision]);
    const all = batches.flat();
    const first = this.#stages.findIndex(
      (stage) => stage.isActive && stage.decideFirst !== undefined && all.some(stage.concerns),
    );
    if (first === -1) return this.owner.decideFirst(this.#call, batches);
    return this.#stages[first]!.decideFirst!(this.#call, batches, this.#after[first]!);
  }
}

// A loop, because a stage is asked for each batch that is not plain: `some` would call a closure.
function concernsAny({ concerns }: Stage, batch: Batch): boolean {
  for (let i = 0; i < batch.length; i++) if (concerns(batch[i]!)) return true;
  return false;
}
