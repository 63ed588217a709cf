import { allEnded, andThen, type Awaitable } from '../async/awaitable.ts';
import { complaint, listed, SluiceError } from '../checks/errors.ts';
import { isPlainObject } from '../checks/options.ts';
import { checkCost, transactionOf } from '../decision/batch.ts';
import { Decided, stateOf } from '../decision/decided.ts';
import { periodLeft } from '../decision/period-left.ts';
import type { Result } from '../decision/result.ts';
import { changed, isBlocked, type Transaction } from '../decision/transaction.ts';
import { limitNamed, type LimitSet } from '../definitions/limit-set.ts';
import type { EventSink } from '../events/event.ts';
import { Use } from '../limits/use.ts';
import type { Corrections } from './corrections.ts';
import { checkCall } from './entry-calls.ts';
import type { KindParts } from './kind-parts.ts';
import type { Reports } from './reports.ts';
import type { Settlement, TrueCosts } from './settlement.ts';
import { settleAll, spentAt, type LimitCost } from './spent-tokens.ts';

type SettlementOutcome = Settlement['outcome'];

interface SettlementsParts {
  readonly corrections: Pick<Corrections, 'spentTokensOf' | 'addTo' | 'refund' | 'track'>;
  readonly limits: { readonly set: LimitSet<never> };
  readonly kinds: Pick<KindParts, 'stored'>;
  /** Decides a charge. */
  readonly spend: (batch: readonly Transaction[]) => Awaitable<Decided>;
  readonly emit: EventSink;
  readonly reports: Pick<Reports<never>, 'corrected'>;
}

/** Corrects the costs of decisions when the true ones are known, see `Limiter.settle`. */
export class Settlements {
  readonly #parts: SettlementsParts;

  constructor(parts: SettlementsParts) {
    this.#parts = parts;
  }

  /** See `Limiter.settle`. At once if the store answers at once. */
  settle(decision: Decided, costs: TrueCosts): Awaitable<readonly Settlement[]> {
    const checked = this.#checked(decision, costs);
    const settle = (): Awaitable<readonly Settlement[]> => this.#settle(decision, checked);
    const state = stateOf(decision);
    const settled = state.settled === undefined ? settle() : state.settled.then(settle, settle);
    if (settled instanceof Promise) {
      state.settled = settled;
      this.#parts.corrections.track(settled);
    }
    return settled;
  }

  #checked(decision: Decided, costs: TrueCosts): readonly LimitCost[] {
    const { corrections, limits } = this.#parts;
    if (!(decision instanceof Decided)) throw noDecision(decision);
    corrections.spentTokensOf(decision);
    if (!isPlainObject(costs)) throw noCosts(costs);
    return Object.entries(costs).map(([limit, cost]) => {
      checkCall(limitNamed(limits.set, limit), 'settle', 'check-and-spend');
      const results = decision.results.filter((result) => result.limit === limit);
      if (results.length > 1) throw severalIds(limit);
      if (results.length === 0 && isWhole(decision)) throw notAsked(decision, limit);
      checkCost(limit, cost);
      return { limit, cost };
    });
  }

  /** Gives back what was taken in excess of the costs, then charges what is missing. */
  #settle(decision: Decided, costs: readonly LimitCost[]): Awaitable<readonly Settlement[]> {
    const { corrections, reports } = this.#parts;
    const skipped = new Map(costs.map(({ limit }) => [limit, this.#reasonToSkip(decision, limit)]));
    const toSettle = costs.filter(({ limit }) => skipped.get(limit) === undefined);
    reports.corrected('settled', toSettle);
    return andThen(settleAll(corrections.spentTokensOf(decision), toSettle), (missing) => {
      const outcomes = allEnded(toSettle.map((each, i) => this.#finishAt(decision, each, missing[i]!.cost)));
      return andThen(outcomes, (all) => {
        const known = new Map(toSettle.map(({ limit }, i) => [limit, all[i]]));
        return costs.map(({ limit }) => this.#settlement(decision, limit, (known.get(limit) ?? skipped.get(limit))!));
      });
    });
  }

  #settlement(decision: Decided, limit: string, outcome: SettlementOutcome): Settlement {
    const chain = outcome === 'not-taken' ? [] : this.#parts.corrections.spentTokensOf(decision);
    return { limit, spent: spentAt(chain, limit), outcome };
  }

  /** Why nothing is changed at a limit. Undefined if it has to be settled. */
  #reasonToSkip(decision: Decided, limit: string): SettlementOutcome | undefined {
    const result = decision.results.find((candidate) => candidate.limit === limit);
    if (result === undefined || !canSettle(decision, result)) return 'not-taken';
    return this.#hasEnded(decision, result) ? 'period-ended' : undefined;
  }

  /** Whether the period in which a decision spent a quota is over, by the clock of this process. */
  #hasEnded(decision: Decided, { limit, id }: Result): boolean {
    const { periods } = limitNamed(this.#parts.limits.set, limit);
    if (periods === undefined) return false;
    const endMs = periodEndOf(decision, limit);
    return endMs !== undefined && periods.running(periods.of(id))[0] >= endMs;
  }

  /** Charges what is missing at a limit after its refund, and returns the outcome. */
  #finishAt(decision: Decided, { limit, cost }: LimitCost, missing: number): Awaitable<SettlementOutcome> {
    if (missing > 0) return this.#charge(decision, limit, missing);
    const chain = this.#parts.corrections.spentTokensOf(decision);
    if (chain.some((each) => each.hasEndedAt(limit))) return 'period-ended';
    return spentAt(chain, limit) > cost ? 'lost' : 'settled';
  }

  /** Takes what is missing by another decision, which shows how much it has taken. */
  #charge(decision: Decided, limit: string, missing: number): Awaitable<SettlementOutcome> {
    const { kinds, limits, spend } = this.#parts;
    const { id } = decision.results.find((result) => result.limit === limit)!;
    const use = new Use(limitNamed(limits.set, limit), missing, 'charge', 1);
    return andThen(transactionOf(limits.set, use, id, undefined), (one) => {
      // The id is unlimited, or blocked, meanwhile.
      if (one === null || isBlocked(one)) return 'settled';
      const charged = spend(kinds.stored([one]).map(upToDebt));
      return andThen(charged, (charge) => this.#charged(decision, charge, { limit, cost: missing }));
    });
  }

  /** Returns the outcome of a charge. */
  #charged(decision: Decided, charged: Decided, { limit, cost }: LimitCost): Awaitable<SettlementOutcome> {
    const { corrections, emit, reports } = this.#parts;
    if (charged.failure !== undefined && charged.results.length === 0) {
      const message = `A settlement of limit "${limit}" was lost, because the store could not answer. Call settle again.`;
      reports.corrected('lost', [{ limit, cost }]);
      emit({ type: 'charge-lost', count: 1, cause: charged.failure.cause, message });
      return 'lost';
    }
    const { spent } = charged.results[0]!;
    // As much as the bucket and its `maxDebt` had.
    if (spent === 0) return 'settled';
    reports.corrected('charged', [{ limit, cost: spent }]);
    // By the clock of the store, the period may have ended meanwhile.
    if (periodEndOf(charged, limit) !== periodEndOf(decision, limit))
      return andThen(corrections.refund(charged), () => 'period-ended');
    corrections.addTo(decision, charged);
    return 'settled';
  }
}

/** A `spend-only` that did not fit took nothing, and is not charged afterwards either. */
function canSettle({ allowed, failure }: Decided, { mode, spent, cost }: Result): boolean {
  return allowed && failure === undefined && (mode !== 'spend-only' || spent === cost);
}

/** Whether an allowed decision has a result of each limit that it was asked for. */
function isWhole(decision: Decided): boolean {
  return decision.allowed && decision.failure === undefined && stateOf(decision).leavesOut === undefined;
}

/** A charge of at most what an empty bucket and its `maxDebt` have: a higher cost would be an error. */
function upToDebt(charge: Transaction): Transaction {
  const cost = Math.min(charge.cost, Math.floor(charge.capTicks / charge.rate.emissionIntervalTicks));
  return changed(charge, { cost });
}

/** When the period ends in which a decision spent a quota; `undefined` for a rate. */
function periodEndOf(decision: Decided, limit: string): number | undefined {
  const index = decision.results.findIndex((result) => result.limit === limit);
  if (decision.origin.store === undefined || index === -1) return undefined;
  return periodLeft(decision.batch[index]!, decision, index)?.endMs;
}

function noDecision(value: unknown): SluiceError {
  const remedy = 'For example await limiter.settle(decision, { Tokens: 1234 }).';
  return complaint('ERR_OPTION', { option: 'settle(decision)', demand: 'a decision of spend()', value, remedy });
}

function noCosts(value: unknown): SluiceError {
  const remedy = 'For example settle(decision, { Tokens: 1234 }).';
  return complaint('ERR_OPTION', { option: 'settle(costs)', demand: 'costs by the names of limits', value, remedy });
}

function severalIds(name: string): SluiceError {
  return new SluiceError(
    'ERR_OPTION',
    `\`settle\` must not be given the limit "${name}", because the decision is about several ids of it. Call charge or refund with the id.`,
  );
}

function notAsked({ results }: Decided, name: string): SluiceError {
  const asked = listed(new Set(results.map(({ limit }) => `"${limit}"`)));
  return new SluiceError(
    'ERR_OPTION',
    `\`settle\` must not be given the limit "${name}", because the decision is about ${asked} only: it has taken nothing there. ` +
      'Name the limit in the entries of spend or run, with an estimate or cost: 0, or call charge with the id.',
  );
}
