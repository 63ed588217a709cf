import type { Awaitable } from '../../async/awaitable.ts';
import { reasonOf } from '../../checks/errors.ts';
import type { EndingExchange, HeldUntil, Holder, Holding } from '../../decision/holding.ts';
import type { EventSink } from '../../events/event.ts';
import type { AbandonedSlots } from './abandoned-slots.ts';
import type { Held, HeldSlots } from './held-slots.ts';

/** What the slots of all decisions of a limiter have in common. */
export interface DecisionSlotsParts {
  readonly held: HeldSlots;
  readonly abandoned: AbandonedSlots;
  readonly emit: EventSink;
}

/**
 * The slots of one decision.
 *
 * The callbacks refer to the decision, and not only to its slots: the slots of a decision that was garbage-collected count
 * as abandoned, and would be free while the request is in progress.
 */
export class DecisionSlots implements Holding {
  // Names with # would be one call more for each decision.
  private readonly all: readonly Held[];
  private readonly parts: DecisionSlotsParts;

  constructor(all: readonly Held[], parts: DecisionSlotsParts) {
    this.all = all;
    this.parts = parts;
  }

  release(): Awaitable<void> {
    this.parts.abandoned.unwatch(this.all);
    return this.parts.held.release(this.all);
  }

  releaseAfterResponse(decision: Holder, exchange: EndingExchange): void {
    exchange.onEnd!((end) => (end === 'unknown' ? this.#leaveToExpire() : decision.holding!.release()));
  }

  releaseAfterHandler<SettleArgs extends readonly unknown[]>(
    decision: Holder,
    exchange: EndingExchange,
    until: HeldUntil<SettleArgs>,
    settleArgs: SettleArgs,
  ): void {
    const release = (): Awaitable<void> => decision.holding!.release();
    if (typeof until !== 'function') return exchange.onHandled!(release);
    exchange.onEnd!((end) => {
      if (end === 'unknown') return this.#leaveToExpire();
      try {
        // Its rejection is the failure of the handler's work, which the handler reports.
        return Promise.resolve(until(...settleArgs)).then(release, release);
      } catch (cause) {
        this.#reportFailure(cause);
        return release();
      }
    });
  }

  #reportFailure(cause: unknown): void {
    const message = `The slotsUntil function failed (${reasonOf(cause)}). The slots of the request were released.`;
    this.parts.emit({ type: 'callback-failed', callback: 'slotsUntil', cause, message });
  }

  /** See {@link HeldSlots.leaveToExpire}. */
  #leaveToExpire(): void {
    const { abandoned, held, emit } = this.parts;
    abandoned.unwatch(this.all);
    held.leaveToExpire(this.all);
    if (warned.has(held)) return;
    warned.add(held);
    emit({ type: 'warning', message: UNKNOWN_END, once: true });
  }
}

/** The slots of limiters that have warned of a response whose end is unknown. */
const warned = new WeakSet<HeldSlots>();

const UNKNOWN_END =
  'The end of a response could not be observed, because it emits no events. The slots of its concurrency limits are free ' +
  'when they expire, whether the request is still in progress or not.';
