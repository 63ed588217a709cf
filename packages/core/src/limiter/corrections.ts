import { allOf, andThen, type Awaitable } from '../async/awaitable.ts';
import { batchOf, checkCost, transactionOf, withoutBlocked } from '../decision/batch.ts';
import type { Changed, Charge } from '../decision/batch-answer.ts';
import { bucketStates } from '../decision/decide.ts';
import { movedByLimit } from '../decision/moved-tokens.ts';
import { Decided, stateOf } from '../decision/decided.ts';
import type { BucketState, Result } from '../decision/result.ts';
import type { Transaction } from '../decision/transaction.ts';
import type { StoreGate } from '../failure/store-gate.ts';
import { limitNamed, type LimitSet } from '../definitions/limit-set.ts';
import type { Limit } from '../limits/limit.ts';
import { Use } from '../limits/use.ts';
import type { Store } from '../store/store.ts';
import type { CurrentLimits } from './current-limits.ts';
import { costBatchOf } from './entries.ts';
import type { CostEntry } from './entry.ts';
import type { KindParts } from './kind-parts.ts';
import type { PendingWork } from './pending-work.ts';
import type { Reports } from './reports.ts';
import { restrictionsOf, type RestrictEntry } from './restriction.ts';
import type { LateCharge } from './request-limiter.ts';
import { foreignDecision, notRefundable, settleAll, SpentTokens } from './spent-tokens.ts';

/** The parts of {@link Corrections}. */
interface CorrectionsParts {
  readonly store: Store;
  readonly gate: StoreGate;
  readonly limits: Pick<CurrentLimits<never>, 'set'>;
  readonly kinds: KindParts;
  /** All corrections are registered as work that `close` waits for. */
  readonly work: PendingWork;
  readonly reports: Pick<Reports<never>, 'corrected' | 'hasCorrectionListener'>;
}

/** What is taken or given back after a decision: charges, refunds and settlements. */
export class Corrections {
  readonly #parts: CorrectionsParts;

  constructor(parts: CorrectionsParts) {
    this.#parts = parts;
  }

  /** See `Limiter.charge`. */
  charge(entries: readonly CostEntry[]): Awaitable<readonly BucketState[]> {
    return this.#charge(costBatchOf(this.#openSet(), 'charge', entries));
  }

  /** See `Limiter.restrict`. */
  restrict(entries: readonly RestrictEntry[]): Awaitable<readonly BucketState[]> {
    const { gate, work } = this.#parts;
    const restricted = andThen(restrictionsOf(this.#openSet(), entries), (asked) => {
      const batch = withoutBlocked(asked);
      return andThen(gate.charge(batch), (change) => {
        this.#reportCharge('restricted', batch, change);
        return bucketStates(change.batch, change.reading);
      });
    });
    return work.track(restricted);
  }

  /** See `RequestLimiter.chargeResults`. */
  chargeResults(results: readonly Result[], { cost, request }: LateCharge): Awaitable<readonly BucketState[]> {
    const set = this.#openSet();
    const tokens = results.filter(({ limit }) => countsTokens(limitNamed(set, limit)));
    const charges = tokens.map(({ limit, id, mode }) => {
      checkCost(limit, cost);
      return transactionOf(set, new Use(limitNamed(set, limit), cost, mode, 1), id, request);
    });
    return this.#charge(batchOf(charges));
  }

  /** See `Limiter.refund`. */
  refund(what: Decided | readonly CostEntry[]): Awaitable<readonly BucketState[]> {
    const { work } = this.#parts;
    if (what instanceof Decided) return work.track(this.#refundDecision(what));
    if (!Array.isArray(what)) throw notRefundable(what);
    return work.track(andThen(costBatchOf(this.#openSet(), 'refund', what), (batch) => this.#giveBack(batch)));
  }

  #refundDecision(decision: Decided): Awaitable<readonly BucketState[]> {
    const refunds = this.spentTokensOf(decision).toReversed();
    return andThen(allOf(refunds.map((each) => each.refund())), (all) => all.at(-1)!);
  }

  /** See `RequestLimiter.settleResult`. */
  async settleResult(decision: Decided, result: Result, { cost: trueCost, request }: LateCharge): Promise<void> {
    if (result.mode === 'spend-only' && result.spent < result.cost) return;
    this.#parts.reports.corrected('settled', [{ limit: result.limit, cost: trueCost }]);
    const [missing] = await settleAll(this.spentTokensOf(decision), [{ limit: result.limit, cost: trueCost }]);
    if (missing!.cost > 0) await this.chargeResults([result], { cost: missing!.cost, request });
  }

  #charge(transactions: Awaitable<readonly Transaction[]>): Awaitable<readonly BucketState[]> {
    const { store, gate, kinds, work } = this.#parts;
    const charged = andThen(transactions, (asked) => {
      const batch = withoutBlocked(asked);
      return andThen(gate.charge(kinds.stored(batch)), (change) => {
        this.#reportCharge('charged', batch, change);
        // A charge of the local store counts only a part of a quota.
        if (change.store === store) for (const part of kinds.all) part.charged?.(change);
        return bucketStates(change.batch, change.reading);
      });
    });
    return work.track(charged);
  }

  /** Without an answer of the store, only the charges of `local` limits are taken. */
  #reportCharge(
    direction: 'charged' | 'restricted',
    asked: readonly Transaction[],
    { batch, reading, store }: Changed<Charge>,
  ): void {
    const { reports } = this.#parts;
    if (!reports.hasCorrectionListener) return;
    const isTaken = ({ treatment }: Transaction): boolean =>
      batch.length > 0 && (store === this.#parts.store || treatment.onFailure === 'local');
    reports.corrected(direction, movedByLimit(batch, reading, 'charge'));
    reports.corrected(
      'lost',
      asked.filter((each) => !isTaken(each)),
    );
  }

  #giveBack(batch: readonly Transaction[]): Awaitable<readonly BucketState[]> {
    const { store, gate, kinds, reports } = this.#parts;
    const open = withoutBlocked(batch);
    return andThen(gate.refund(store, kinds.stored(open)), (given) => {
      if (given.batch.length === 0) reports.corrected('lost', open);
      else reports.corrected('refunded', movedByLimit(given.batch, given.reading, 'refund'));
      return bucketStates(given.batch, given.reading);
    });
  }

  /**
   * Returns what a decision took, and after that what settlements have charged in addition.
   *
   * @throws {SluiceError} `ERR_FOREIGN_DECISION`.
   */
  spentTokensOf(decision: Decided): readonly SpentTokens[] {
    if (decision.origin.owner !== this.#parts.gate) throw foreignDecision();
    const state = stateOf(decision);
    state.spent ??= [new SpentTokens(decision, this.#parts)];
    return state.spent as readonly SpentTokens[];
  }

  /** Adds what a settlement has charged to what a decision took. */
  addTo(decision: Decided, charged: Decided): void {
    stateOf(decision).spent = [...this.spentTokensOf(decision), new SpentTokens(charged, this.#parts)];
  }

  /** Registers work that `close` waits for. */
  track(work: Promise<unknown>): void {
    this.#parts.work.track(work);
  }

  /** @throws {SluiceError} `ERR_CLOSED` after `close`. */
  #openSet(): LimitSet<never> {
    this.#parts.gate.assertOpen();
    return this.#parts.limits.set;
  }
}

/** Slots are released, and loads count nothing. */
function countsTokens({ kind }: Limit<never>): boolean {
  return kind.level === 'falls' || kind.level === 'resets';
}
