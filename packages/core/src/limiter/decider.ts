import { andThen, type Awaitable } from '../async/awaitable.ts';
import { batchOf, canEverPass, checkCostFits, hasBlocked, plainBatchOf } from '../decision/batch.ts';
import { neverDecision } from '../decision/decide.ts';
import { firstDecision, leavingOut, type Decided } from '../decision/decided.ts';
import type { DecisionCall, Stage } from '../decision/stage.ts';
import type { Batch, Transaction } from '../decision/transaction.ts';
import { tracing } from '../events/trace.ts';
import { OpenGate } from '../failure/open-gate.ts';
import type { StoreGate } from '../failure/store-gate.ts';
import type { StoreBlocks } from '../store/store.ts';
import { assertAtOnce } from './at-once.ts';
import type { CallerDeadlines } from './caller-deadlines.ts';
import type { Active } from './kind-parts.ts';
import { IN_SHADOW, WITHOUT_HTTP, type DecisionContext, type Reports } from './reports.ts';
import type { Spent } from './spend-options.ts';
import { Stages } from './stages.ts';

/** What was made of an entry: `null` of that of an unlimited id. */
type Made = Awaitable<Transaction | null>;

/** Blocks that other processes may make. */
export type NotedBlocks = Required<Pick<StoreBlocks, 'note'>>;

/** The parts of a {@link Decider}. */
export interface DeciderParts {
  readonly gate: StoreGate;
  /** While it is active, plain batches pass the stages, too. */
  readonly raised: Active;
  readonly deadlines: Pick<CallerDeadlines, 'decide'>;
  readonly reports: Reports<never>;
  /** Whether a cost that can never pass is denied, and not an error. */
  readonly costsFromData: boolean;
  /** Noted at each decision. Undefined if no other process uses the store. */
  readonly blocks: NotedBlocks | undefined;
}

/** Decides batches: plain ones by the gate alone, and others by the stages. */
export class Decider {
  readonly #gate: StoreGate;
  readonly #answersAtOnce: boolean;
  #stages: Readonly<Record<DecisionCall, Stages>>;
  readonly #raised: Active;
  /** As `raised`. */
  #watch: Active;
  readonly #deadlines: DeciderParts['deadlines'];
  readonly #reports: Reports<never>;
  readonly #costsFromData: boolean;
  readonly #blocks: NotedBlocks | undefined;

  constructor({ gate, raised, deadlines, reports, costsFromData, blocks }: DeciderParts) {
    this.#gate = gate;
    this.#answersAtOnce = gate instanceof OpenGate;
    this.#raised = raised;
    this.#deadlines = deadlines;
    this.#reports = reports;
    this.#costsFromData = costsFromData;
    this.#blocks = blocks;
    this.#stages = stagesOf([], gate);
    this.#watch = raised;
  }

  /**
   * Uses stages from now on.
   *
   * @param stages - In the order in which they decide.
   * @param watch - While it is active, plain batches pass them, too.
   */
  use(stages: readonly Stage[], watch: Active): void {
    this.#stages = stagesOf(stages, this.#gate);
    this.#watch = watch;
  }

  /**
   * Decides what was made of the entries of a call without HTTP, and reports the decision of a `spend`.
   *
   * @throws {SluiceError} `ERR_DUPLICATE_BUCKET`, `ERR_COST_OVER_BURST`.
   */
  decideMade(call: DecisionCall, made: readonly Made[], spent?: Spent): Awaitable<Decided> {
    const batch = this.#reports.isNeeded || spent !== undefined ? undefined : plainBatchOf(made);
    return batch === undefined ? this.#decideAny(call, made, spent) : this.#decidePlain(call, batch);
  }

  /**
   * Does the same at once.
   *
   * @throws {SluiceError} `ERR_OPTION` when it would take time.
   */
  decideMadeAtOnce(call: DecisionCall, made: readonly Made[], spent?: Spent): Decided {
    if (spent !== undefined || !this.#answersAtOnce || this.#reports.isNeeded)
      return this.#decideAnyAtOnce(call, made, spent);
    const batch = plainBatchOf(made);
    return batch === undefined ? this.#decideAnyAtOnce(call, made, spent) : (this.#decidePlain(call, batch) as Decided);
  }

  #decideAnyAtOnce(call: DecisionCall, made: readonly Made[], spent: Spent | undefined): Decided {
    assertAtOnce(call, this.#answersAtOnce, made);
    return this.#decideAny(call, made, spent) as Decided;
  }

  // A function of its own: a closure in its caller would allocate a context on each call.
  #decideAny(call: DecisionCall, made: readonly Made[], spent: Spent | undefined): Awaitable<Decided> {
    const batch = spent?.dueMicros === undefined ? plainBatchOf(made) : undefined;
    const decided = batch === undefined ? this.#decideMixed(call, made, spent?.dueMicros) : this.decide(call, batch);
    return this.#reported(call, decided, spent);
  }

  #decideMixed(call: DecisionCall, made: readonly Made[], dueMicros: number | undefined): Awaitable<Decided> {
    return andThen(batchOf(made), (batch) => {
      const decided = dueMicros === undefined ? this.decide(call, batch) : this.decideBy(dueMicros, call, batch);
      return batch.length === made.length ? decided : andThen(decided, leavingOut);
    });
  }

  #reported(call: DecisionCall, decided: Awaitable<Decided>, spent: Spent | undefined): Awaitable<Decided> {
    if (call === 'check' || !this.#reports.isNeeded) return decided;
    const context = spent?.shadow === true ? IN_SHADOW : WITHOUT_HTTP;
    return decided instanceof Promise ? this.#reportedLater(decided, context) : this.#reports.report(decided, context);
  }

  #reportedLater(decided: Promise<Decided>, context: DecisionContext<never>): Promise<Decided> {
    return decided.then((decision) => this.#reports.report(decision, context));
  }

  /**
   * @param isTimed - Those of a store that answers at once are not timed: a look at the clock is dear.
   * @throws {SluiceError} `ERR_COST_OVER_BURST`.
   */
  decide(
    call: DecisionCall,
    batch: Batch,
    isTimed: boolean = !this.#answersAtOnce && this.#reports.areTimed,
  ): Awaitable<Decided> {
    if (isTimed) return this.#watched(() => this.decide(call, batch, false), batch);
    this.#blocks?.note();
    for (let i = 0; i < batch.length; i++) if (!batch[i]!.isPlain) return this.#decideByStages(call, batch);
    return this.#raised.isActive || this.#watch.isActive
      ? this.#stages[call].decide(batch)
      : this.#gate.decide(call, batch);
  }

  /**
   * Decides a batch whose caller gives up.
   *
   * @param dueMicros - When it does, on the clock of the limiter.
   */
  decideBy(dueMicros: number, call: DecisionCall, batch: Batch): Awaitable<Decided> {
    return this.#deadlines.decide([batch], dueMicros, ([asked]) => this.decide(call, asked!));
  }

  /** Decides a batch of {@link plainBatchOf}. */
  #decidePlain(call: DecisionCall, batch: Batch): Awaitable<Decided> {
    this.#blocks?.note();
    return this.#raised.isActive || this.#watch.isActive
      ? this.#stages[call].decide(batch)
      : this.#gate.decide(call, batch);
  }

  // What follows is rare, and may create closures.
  /** Times a decision that takes time, and traces it if somebody wants that. */
  #watched(decide: () => Awaitable<Decided>, batch: Batch): Awaitable<Decided> {
    const timed = (): Awaitable<Decided> => {
      const beganMicros = this.#reports.nowMicros();
      return andThen(decide(), (decision) => this.#reports.timed(decision, beganMicros));
    };
    return tracing.hasSubscribers ? this.#reports.traced(timed, batch) : timed();
  }

  #decideByStages(call: DecisionCall, batch: Batch): Awaitable<Decided> {
    if (!batch.every(canEverPass)) return this.#decideNever(call, batch);
    // Not all of them ask the gate.
    this.#gate.assertOpen();
    return this.#stages[call].decide(batch);
  }

  /** Rejects costs that can never pass. Costs of data are denied: the other limits are looked at, and nothing is taken. */
  #decideNever(call: DecisionCall, batch: Batch): Awaitable<Decided> {
    if (!this.#costsFromData) for (const transaction of batch) checkCostFits(transaction);
    this.#gate.assertOpen();
    if (hasBlocked(batch)) return this.#stages[call].decide(batch);
    const others = this.#stages.check.decide(batch.filter(canEverPass));
    return andThen(others, (decision) => neverDecision(batch, decision));
  }

  /**
   * Returns the decision of the first alternative that passes. When all are denied, that of the one that can pass
   * soonest. An alternative with a blocked id is denied without the store. Those after one of unlimited ids are never
   * tried. Reports the decision of a `spend`.
   */
  decideFirst(call: DecisionCall, made: Awaitable<readonly Batch[]>, spent?: Spent): Awaitable<Decided> {
    this.#blocks?.note();
    const decide = (batches: readonly Batch[]): Awaitable<Decided> =>
      andThen(this.#stages[call].decideFirst(untilUnlimited(batches)), (tried) => leavingOut(firstDecision(tried)));
    const isWatched = !this.#answersAtOnce && this.#reports.areTimed;
    const watched = (batches: readonly Batch[]): Awaitable<Decided> =>
      isWatched ? this.#watched(() => decide(batches), batches.flat()) : decide(batches);
    const dueMicros = spent?.dueMicros;
    const inTime = (batches: readonly Batch[]): Awaitable<Decided> =>
      dueMicros === undefined ? watched(batches) : this.#deadlines.decide(batches, dueMicros, watched);
    return this.#reported(call, andThen(made, inTime), spent);
  }
}

function stagesOf(stages: readonly Stage[], gate: StoreGate): Readonly<Record<DecisionCall, Stages>> {
  return { spend: Stages.of('spend', stages, gate), check: Stages.of('check', stages, gate) };
}

/** Leaves out the batches after the first in which all ids are unlimited: it passes. */
function untilUnlimited(batches: readonly Batch[]): readonly Batch[] {
  const unlimited = batches.findIndex(({ length }) => length === 0);
  return unlimited === -1 ? batches : batches.slice(0, unlimited + 1);
}
