import { checkOptions } from '../checks/options.ts';
import type { EventSink, LimiterEvent } from '../events/event.ts';
import type { CheckedFailureOptions } from '../limits/failure-options.ts';
import { defineLimitSet, type LimitSet, type LimitSetOptions } from '../definitions/limit-set.ts';
import { storedLimits } from '../definitions/stored-limits.ts';
import type { Store } from '../store/store.ts';
import type { StoreCalls } from '../store/store-calls.ts';
import { AnswerWaits } from '../time/answer-waits.ts';
import type { Time } from '../time/time.ts';
import { checkCarries } from './accepted-store.ts';
import { blocksUnread, withBlocked } from './blocking.ts';
import { registerLimits, releaseLimits, type MadeAgain } from './limit-name-registry.ts';
import { LeaseWarnings } from './lease-warnings.ts';
import type { KindParts } from './kind-parts.ts';
import { NeededLimits } from './needed-limits.ts';
import type { OtherNumbers } from './other-numbers.ts';
import type { UseInput } from './prepared-limits.ts';
import { withoutWaits } from '../definitions/without-waits.ts';
import { RaisedLimits } from './raised-limits.ts';

/** The parts of {@link CurrentLimits}. */
interface CurrentLimitsParts {
  readonly store: Store;
  /** Where the program made the limiter. */
  readonly place: string;
  readonly failure: CheckedFailureOptions;
  readonly overridesDeadlineMs: number;
  readonly emit: EventSink;
  readonly time: Time;
  readonly calls: StoreCalls;
  readonly kinds: KindParts;
}

/** The limits that are in effect, and all that has to change with them when they are replaced. */
export class CurrentLimits<Request> {
  readonly raised: RaisedLimits;
  /** Undefined if no other process uses the store. */
  readonly others: OtherNumbers | undefined;
  readonly #parts: CurrentLimitsParts;
  readonly #leases: LeaseWarnings;
  readonly #needed = new NeededLimits();
  /** The waits for `overrides` functions. */
  readonly #waits: AnswerWaits;
  #noteNewParts: () => void = () => undefined;
  readonly #endBlocks: (() => void) | undefined;
  /** As they were defined, without the blocks of the store. */
  #plain: LimitSet<Request>;
  /** The limits in effect. Only {@link CurrentLimits.replace} and blocks change it. */
  set: LimitSet<Request>;

  /**
   * @throws {SluiceError} For limits that are not valid, or that the store can't carry. `ERR_LIMIT_IN_USE` when another
   * limiter on the store has one of their names with other numbers.
   */
  constructor(set: LimitSetOptions<Request>, parts: CurrentLimitsParts) {
    this.#parts = parts;
    this.#waits = new AnswerWaits(parts.overridesDeadlineMs, parts.time);
    this.raised = new RaisedLimits(parts.time);
    this.#leases = new LeaseWarnings(parts.store, parts.emit);
    this.#plain = this.#defined(set);
    this.set = this.#withBlocks();
    this.#register(this.set);
    parts.kinds.changed(this.set.limits);
    this.#leases.changed(this.set);
    this.others = parts.store.otherNumbers?.(parts as never) as OtherNumbers | undefined;
    this.others?.changed(this.set);
    this.#endBlocks = parts.store.blocks?.watch((error) => {
      if (error !== undefined) parts.emit(blocksUnread(error));
      this.set = this.#withBlocks();
    });
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
    this.#register(next);
    this.raised.changed(this.set, next);
    if (this.#parts.kinds.changed(next.limits)) this.#noteNewParts();
    this.#leases.changed(next);
    this.others?.changed(next);
    this.#plain = next;
    this.set = this.#withBlocks();
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

  /** Calls a function now, and whenever `replace` brings limits of a new kind. */
  onNewParts(note: () => void): void {
    this.#noteNewParts = note;
    note();
  }

  /** Lets other limiters use the names, and ends the looks at other processes. */
  release(): void {
    this.others?.close();
    this.#endBlocks?.();
    releaseLimits(this.#parts.store, this);
  }

  /** Ends the wait for all `overrides` functions that have not answered yet. */
  endOverrides(): void {
    this.#waits.expireAll();
  }

  // A set is another object after each change of blocks, but its limits stay the same objects.
  #withBlocks(): LimitSet<Request> {
    const { blocks } = this.#parts.store;
    return blocks === undefined || blocks.isEmpty ? this.#plain : withBlocked(this.#plain, blocks, this.#parts.time);
  }

  #register(set: LimitSet<Request>): void {
    const { store, place, emit } = this.#parts;
    const again = registerLimits(store, this, { place, limits: storedLimits(set) });
    if (again !== undefined) emit(madeAgainEvent(again));
  }

  #defined(set: LimitSetOptions<Request>): LimitSet<Request> {
    const { store, failure, emit, calls, time } = this.#parts;
    const context = { onFailure: failure.onFailure, waits: this.#waits, emit, calls };
    const defined = defineLimitSet(set, context);
    checkCarries(store, defined);
    return time.timersEndWithRequest === true ? withoutWaits(defined) : defined;
  }
}

function madeAgainEvent({ limits, places }: MadeAgain): LimiterEvent {
  const [first, again] = places;
  const are = limits.length === 1 ? `limit ${limits[0]} is` : `limits ${limits.join(', ')} are`;
  const where = first === again ? `, again ${again}` : `: first ${first}, again ${again}`;
  const message =
    `The ${are} made more than once on one store${where}. The limiters share the buckets. ` +
    'That is right where a module is loaded again, or in several bundles. Otherwise share one limiter.';
  return { type: 'limit-made-again', limits, places, message, once: true };
}
