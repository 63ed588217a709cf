import { allOf, andThen, type Awaitable } from '../async/awaitable.ts';
import { batchOf, checkCostFits, hasBlocked, hasFittingCost, isDecidable, plainBatchOf } from '../decision/batch.ts';
import { blockedDecision, neverDecision } from '../decision/decide.ts';
import { Decision } from '../decision/decision.ts';
import { borrows } from '../kinds/borrow/loan.ts';
import type { Transaction } from '../decision/transaction.ts';
import { decisionChannel } from '../events/event.ts';
import { OpenGate, type StoreGate } from '../failure/store-gate.ts';
import type { LimitSet } from '../definitions/limit-set.ts';
import { assertAtOnce } from './at-once.ts';
import { checkAlternatives, type Lender } from '../kinds/borrow/lender.ts';
import { isLoad, type LoadLimits } from '../kinds/load/load-limits.ts';
import { WITHOUT_HTTP, type DecisionReports } from './on-decision.ts';
import type { QuotaWarnings } from '../kinds/quota/quota-warnings.ts';
import type { SlotStage } from '../kinds/concurrency/slot-stage.ts';
import type { RaisedLimits } from './raised-limits.ts';

type Call = 'spend' | 'check';
type Batch = readonly Transaction[];
/** What was made of an entry: `null` of that of an unlimited id. */
type Made = Awaitable<Transaction | null>;

/** The parts of a {@link Decider}. */
export interface DeciderParts {
  readonly gate: StoreGate;
  readonly raised: RaisedLimits;
  readonly reports: DecisionReports<never>;
  readonly lender: Lender;
  readonly warnings: QuotaWarnings;
  readonly loads: LoadLimits;
  readonly slots: SlotStage;
  readonly currentSet: () => LimitSet<never>;
  /** Whether a cost that can never pass is denied, and not an error. */
  readonly costsFromData: boolean;
}

/**
 * Decides known batches: denies those with a blocked id, has the gate decide the others, and decides again after debts
 * from before a raise were cut.
 */
export class Decider {
  readonly #gate: StoreGate;
  /** The same gate if its store answers at once. */
  readonly #openGate: OpenGate | undefined;
  readonly #raised: RaisedLimits;
  readonly #reports: DecisionReports<never>;
  readonly #lender: Lender;
  readonly #warnings: QuotaWarnings;
  readonly #loads: LoadLimits;
  readonly #slots: SlotStage;
  readonly #currentSet: () => LimitSet<never>;
  readonly #costsFromData: boolean;

  constructor({ gate, raised, reports, lender, warnings, loads, slots, currentSet, costsFromData }: DeciderParts) {
    this.#loads = loads;
    this.#slots = slots;
    this.#warnings = warnings;
    this.#gate = gate;
    this.#openGate = gate instanceof OpenGate ? gate : undefined;
    this.#raised = raised;
    this.#reports = reports;
    this.#lender = lender;
    this.#currentSet = currentSet;
    this.#costsFromData = costsFromData;
  }

  /**
   * Decides what was made of the entries of a call without HTTP, and reports the decision of a `spend`.
   *
   * @throws {SluiceError} `ERR_DUPLICATE_BUCKET`, `ERR_COST_OVER_BURST`.
   */
  decideMade(call: Call, made: readonly Made[]): Awaitable<Decision> {
    const batch = this.#reports.isNeeded ? undefined : plainBatchOf(made);
    return batch === undefined ? this.#decideAny(call, made) : this.#askStore(call, batch);
  }

  /**
   * Does the same at once.
   *
   * @throws {SluiceError} `ERR_OPTION` when it would take time.
   */
  decideMadeAtOnce(call: Call, made: readonly Made[]): Decision {
    if (this.#openGate === undefined || this.#reports.isNeeded) return this.#decideAnyAtOnce(call, made);
    const batch = plainBatchOf(made);
    return (batch === undefined ? this.#decideAnyAtOnce(call, made) : this.#askStore(call, batch)) as Decision;
  }

  #decideAnyAtOnce(call: Call, made: readonly Made[]): Decision {
    assertAtOnce(call, this.#openGate !== undefined, made);
    return this.#decideAny(call, made) as Decision;
  }

  // A function of its own, so that the common path creates no closure: see docs/hot-path.md.
  #decideAny(call: Call, made: readonly Made[]): Awaitable<Decision> {
    return this.#reported(
      call,
      andThen(batchOf(made), (batch) => this.decide(call, batch)),
    );
  }

  #reported(call: Call, made: Awaitable<Decision>): Awaitable<Decision> {
    if (call === 'check' || !this.#reports.isNeeded) return made;
    return andThen(made, (decision) => {
      this.#reports.report(decision, WITHOUT_HTTP);
      return decision;
    });
  }

  /** @throws {SluiceError} `ERR_COST_OVER_BURST`. */
  decide(call: Call, batch: Batch): Awaitable<Decision> {
    if (decisionChannel.hasSubscribers) return this.#decideTimed(call, batch);
    return isDecidable(batch) ? this.#askStore(call, batch) : this.#decideRare(call, batch);
  }

  /** Decides a batch that {@link isDecidable}. */
  #askStore(call: Call, batch: Batch): Awaitable<Decision> {
    const decision = this.#gate.decide(call, batch);
    return this.#raised.isActive || this.#warnings.areNeeded ? this.#after(call, batch, decision) : decision;
  }

  // What follows is rare, and may create closures: see docs/hot-path.md.
  #after(call: Call, batch: Batch, first: Awaitable<Decision>): Awaitable<Decision> {
    const made = this.#raised.remembersAny() ? this.#afterRaise(call, batch, first) : first;
    if (call === 'check' || !this.#warnings.areNeeded) return made;
    return andThen(made, (decision) => {
      this.#warnings.look(decision);
      return decision;
    });
  }

  /**
   * Returns the decision of the first alternative that passes. When all are denied, that of the one that can pass
   * soonest. An alternative with a blocked id is denied without the store. Those after one of unlimited ids are never
   * tried. Reports the decision of a `spend`.
   */
  decideFirst(call: Call, made: Awaitable<readonly Batch[]>): Awaitable<Decision> {
    const decide = (alternatives: readonly Batch[]): Awaitable<Decision> =>
      decisionChannel.hasSubscribers
        ? this.#reports.timed(() => this.#decideFirstNow(call, alternatives))
        : this.#decideFirstNow(call, alternatives);
    return this.#reported(call, andThen(made, decide));
  }

  // A function of its own, so that the common path creates no closure: see docs/hot-path.md.
  #decideTimed(call: Call, batch: Batch): Awaitable<Decision> {
    return this.#reports.timed(() => this.#decideNow(call, batch));
  }

  #decideNow(call: Call, batch: Batch): Awaitable<Decision> {
    return isDecidable(batch) ? this.#askStore(call, batch) : this.#decideRare(call, batch);
  }

  #decideRare(call: Call, batch: Batch): Awaitable<Decision> {
    if (!this.#costsFromData) for (const transaction of batch) checkCostFits(transaction);
    // Not all of them ask the gate.
    this.#gate.assertOpen();
    if (hasBlocked(batch)) return blockedDecision(batch, this.#gate);
    if (this.#costsFromData && !batch.every(hasFittingCost)) {
      const others = this.#decideNow('check', batch.filter(hasFittingCost));
      return andThen(others, (decision) => neverDecision(batch, decision));
    }
    if (!batch.some(isLoad)) return this.#decideUnshed(call, batch);
    const unshed = this.#loads.decide(batch, this.#gate);
    return unshed instanceof Decision ? unshed : this.#decideUnshed(call, unshed);
  }

  #decideUnshed(call: Call, batch: Batch): Awaitable<Decision> {
    return batch.some(hasSlots)
      ? this.#slots.decide(call, batch, (rest) => this.#decideLoans(call, rest))
      : this.#decideLoans(call, batch);
  }

  #decideLoans(call: Call, batch: Batch): Awaitable<Decision> {
    if (!batch.some(borrows)) return this.#askStore(call, batch);
    // A remembered raise may cut debts of any alternative, and then all of them are decided again.
    const gate = call === 'spend' && !this.#raised.remembersAny() ? this.#openGate : undefined;
    return gate === undefined ? this.#lend(call, [batch]) : this.#lendAtOnce(gate, batch);
  }

  /**
   * Decides a batch in which a limit borrows, in two calls of a store that answers at once. In most cases the first one,
   * for own tokens, is enough, and what would be lent need not be computed. When it is denied, it has taken nothing.
   */
  #lendAtOnce(gate: OpenGate, batch: Batch): Decision {
    const assured = gate.decide('spend', this.#lender.assuredOf(batch));
    const decision = assured.outcome === 'denied' ? this.#borrowAtOnce(gate, batch, assured) : assured;
    if (this.#warnings.areNeeded) this.#warnings.look(decision);
    return decision;
  }

  // All alternatives of a batch name the same buckets in the same order, so the reading that denied one may deny all.
  #borrowAtOnce(gate: OpenGate, batch: Batch, assured: Decision): Decision {
    const alternatives = this.#lender.lentOf(batch);
    if (!alternatives.some((lent) => gate.wouldPass(lent, assured))) {
      return alternatives.reduce((soonest, lent) => soonerByAll(soonest, gate.denyAlso(lent, assured)), assured);
    }
    const lent =
      alternatives.length === 1 ? [gate.decide('spend', alternatives[0]!)] : gate.decideFirst('spend', alternatives);
    const last = lent.at(-1)!;
    if (last.outcome === 'denied') return lent.reduce(soonerByAll, assured);
    this.#lender.noteLent(last, batch);
    return last;
  }

  /** Cuts the debts from before a raise that a decision has met. Decides again if the decision took nothing. */
  #afterRaise(call: Call, batch: Batch, first: Awaitable<Decision>): Awaitable<Decision> {
    return andThen(first, (decision) =>
      andThen(this.#cutDebts(decision), (wasCut) =>
        wasCut && tookNothing(decision) ? this.#gate.decide(call, batch) : decision,
      ),
    );
  }

  #decideFirstNow(call: Call, alternatives: readonly Batch[]): Awaitable<Decision> {
    const open = alternatives.filter((batch) => !hasBlocked(batch));
    const unlimited = open.findIndex((batch) => batch.length === 0);
    const tried = unlimited === -1 ? open : open.slice(0, unlimited + 1);
    if (tried.length < 2) return this.#decideNow(call, tried[0] ?? alternatives[0]!);
    if (tried.some((batch) => batch.some(borrows))) return this.#lend(call, tried);
    return andThen(this.#decideTried(call, tried), firstDecision);
  }

  /** Decides the first of several batches that passes, where some limits borrow. */
  #lend(call: Call, batches: readonly Batch[]): Awaitable<Decision> {
    const groups = batches.map((batch) => this.#lender.alternativesOf(batch));
    const all = groups.flat();
    checkAlternatives(all.length);
    return andThen(this.#decideTried(call, all), (decisions) => {
      const decision = firstDecision(soonestOfEach(groups, decisions));
      if (call === 'spend') this.#lender.noteLent(decision, batches.flat());
      return decision;
    });
  }

  #decideTried(call: Call, alternatives: readonly Batch[]): Awaitable<readonly Decision[]> {
    const decided = this.#cutAndTried(call, alternatives);
    if (call === 'check' || !this.#warnings.areNeeded) return decided;
    return andThen(decided, (decisions) => {
      for (const decision of decisions) this.#warnings.look(decision);
      return decisions;
    });
  }

  #cutAndTried(call: Call, alternatives: readonly Batch[]): Awaitable<readonly Decision[]> {
    const tried = this.#gate.decideFirst(call, alternatives);
    if (!this.#raised.remembersAny()) return tried;
    // Debts from before a raise may have denied any of them.
    return andThen(tried, (decisions) =>
      andThen(allOf(decisions.map((one) => this.#cutDebts(one))), (wereCut) =>
        wereCut.includes(true) && decisions.every(tookNothing) ? this.#gate.decideFirst(call, alternatives) : decisions,
      ),
    );
  }

  #cutDebts(decision: Decision): Awaitable<boolean> {
    return this.#raised.cutDebts(decision, this.#currentSet(), (batch) => this.#gate.run({ kind: 'cap', batch }));
  }
}

function hasSlots({ slots }: Transaction): boolean {
  return slots === true;
}

/** All but the last are denied. */
function firstDecision(decisions: readonly Decision[]): Decision {
  const last = decisions.at(-1)!;
  if (last.outcome !== 'denied') return last;
  return decisions.reduce((soonest, one) => (one.retryAfterMs < soonest.retryAfterMs ? one : soonest));
}

/**
 * Leaves out of the denials of one batch all but that with the shortest wait of each limit that borrows. The waits of
 * different limits do not depend on each other, so the sum of the waits is the shortest too.
 */
function soonestOfEach(groups: readonly (readonly Batch[])[], decisions: readonly Decision[]): readonly Decision[] {
  if (decisions.at(-1)!.outcome !== 'denied') return decisions;
  let first = 0;
  return groups.map(({ length }) => {
    return decisions.slice(first, (first += length)).reduce(soonerByAll);
  });
}

function soonerByAll(one: Decision, other: Decision): Decision {
  return sumOfWaits(other) < sumOfWaits(one) ? other : one;
}

function sumOfWaits({ results }: Decision): number {
  return results.reduce((sum, { retryAfterMs }) => sum + retryAfterMs, 0);
}

function tookNothing({ results }: Decision): boolean {
  return results.every(({ spent }) => spent === 0);
}
