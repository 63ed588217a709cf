import { checkOptions } from '../checks/options.ts';
import type { EventSink } from '../events/event.ts';
import type { CheckedFailureOptions } from '../failure/failure-options.ts';
import { defineLimitSet, storedNames, type LimitSet, type LimitSetOptions } from '../limits/limit-set.ts';
import type { Store } from '../store/store.ts';
import { Deadlines } from '../time/deadlines.ts';
import type { StoreWall } from '../time/store-wall.ts';
import type { Time } from '../time/time.ts';
import { checkCarries } from './accepted-store.ts';
import { registerLimitNames, releaseLimitNames } from './limit-name-registry.ts';
import { LeaseWarnings } from './lease-warnings.ts';
import { LoadLimits } from './load-limits.ts';
import { NeededLimits } from './needed-limits.ts';
import type { UseInput } from './prepared-limits.ts';
import { QuotaWarnings } from './quota-warnings.ts';
import { RaisedLimits } from './raised-limits.ts';

/** The parts of {@link CurrentLimits}. */
interface CurrentLimitsParts {
  readonly store: Store;
  readonly failure: CheckedFailureOptions;
  readonly overridesDeadlineMs: number;
  readonly emit: EventSink;
  readonly time: Time;
  /** The wall clock of the store, as far as it is known. */
  readonly wall: StoreWall;
}

/** The limits that are in effect, and all that has to change with them when they are replaced. */
export class CurrentLimits<Request> {
  readonly raised: RaisedLimits;
  readonly warnings: QuotaWarnings;
  readonly loads: LoadLimits;
  readonly #parts: CurrentLimitsParts;
  readonly #leases: LeaseWarnings;
  readonly #needed = new NeededLimits();
  readonly #overrideDeadlines: Deadlines;
  /** The limits in effect. Only {@link CurrentLimits.replace} changes it. */
  set: LimitSet<Request>;

  /**
   * @throws {SluiceError} For limits that are not valid, or that the store can't carry. `ERR_LIMIT_IN_USE` when another
   * limiter uses one of their names on the store.
   */
  constructor(set: LimitSetOptions<Request>, parts: CurrentLimitsParts) {
    this.#parts = parts;
    this.#overrideDeadlines = new Deadlines(parts.overridesDeadlineMs, parts.time);
    this.raised = new RaisedLimits(parts.time);
    this.warnings = new QuotaWarnings(parts.emit);
    this.loads = new LoadLimits(parts.time, parts.emit);
    this.#leases = new LeaseWarnings(parts.store, parts.emit);
    this.set = this.#defined(set);
    registerLimitNames(parts.store, this, storedNames(this.set));
    this.warnings.changed(this.set);
    this.loads.changed(this.set);
    this.#leases.changed(this.set);
  }

  /**
   * Validates other limits as a whole, and lets them take effect.
   *
   * @throws {SluiceError} The errors of `Limiter.replace`. The limits in effect then remain.
   */
  replace(set: LimitSetOptions<Request>): void {
    checkOptions('replace', set, ['limits', 'overrides']);
    const next = this.#defined(set);
    this.#needed.check(next);
    registerLimitNames(this.#parts.store, this, storedNames(next));
    this.raised.changed(this.set, next);
    this.warnings.changed(next);
    this.loads.changed(next);
    this.#leases.changed(next);
    this.set = next;
  }

  /**
   * Registers the limits that a middleware uses: {@link CurrentLimits.replace} then rejects a set in which they are not
   * valid.
   *
   * @throws {SluiceError} The errors of `RequestLimiter.prepare`.
   */
  need(uses: readonly UseInput<never>[]): void {
    this.#needed.add(this.set, uses);
  }

  /** Lets other limiters use the names, and ends the use of loads. */
  release(): void {
    this.loads.close();
    releaseLimitNames(this.#parts.store, this);
  }

  /** Ends the wait for all `overrides` functions that have not answered yet. */
  endOverrides(): void {
    this.#overrideDeadlines.expireAll();
  }

  #defined(set: LimitSetOptions<Request>): LimitSet<Request> {
    const { store, failure, emit, wall } = this.#parts;
    const context = { onFailure: failure.onFailure, deadlines: this.#overrideDeadlines, emit, wall };
    const defined = defineLimitSet(set, context);
    checkCarries(store, defined);
    return defined;
  }
}
