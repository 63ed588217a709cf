import { andThen, type Awaitable } from '../../async/awaitable.ts';
import type { Changed, Charge } from '../../decision/batch-answer.ts';
import type { Decided } from '../../decision/decided.ts';
import { periodLeft } from '../../decision/period-left.ts';
import type { Part } from '../../decision/part.ts';
import type { DecisionCall, Rest, Stage } from '../../decision/stage.ts';
import type { Batch } from '../../decision/transaction.ts';
import type { EventSink } from '../../events/event.ts';
import type { LimitMap } from '../../limits/limit.ts';
import { mapKeyOf } from '../../store/bucket-key.ts';
import type { StoreReading } from '../../store/store.ts';
import { levelAfter } from '../../store/transaction-rule.ts';

/** At most this many warnings are remembered; of more, the oldest are forgotten. */
const MAX_REMEMBERED = 10_000;

/** The tokens used before and after a call. */
interface Step {
  readonly before: number;
  readonly after: number;
}

/** What quotas need of a limiter. */
export class QuotaPart implements Part {
  readonly place = 3;
  readonly watches = true;
  readonly stage: QuotaWarnings;

  constructor(emit: EventSink) {
    this.stage = new QuotaWarnings(emit);
  }

  changed(limits: LimitMap): void {
    this.stage.changed(limits);
  }

  charged(change: Changed<Charge>): void {
    if (this.stage.isActive) this.stage.lookAtCharge(change);
  }
}

/**
 * Emits an event when the use of a quota reaches a threshold of `warnAt`.
 *
 * The reading of the store shows whether a call crosses a threshold: fewer tokens were used before the call, and as
 * many or more after it. So of all processes only one warns, without shared state. After a refund a threshold can be
 * crossed again. Therefore each process remembers its own warnings, and does not repeat them in the same period.
 */
class QuotaWarnings implements Stage {
  /** Whether any limit has thresholds. Only this class changes it. */
  isActive = false;
  readonly concerns: Stage['concerns'] = ({ limit }) => this.#thresholds.has(limit);
  readonly #emit: EventSink;
  readonly #thresholds = new Map<string, readonly number[]>();
  /** The end of the period for each warning that was emitted. */
  readonly #emitted = new Map<string, number>();

  constructor(emit: EventSink) {
    this.#emit = emit;
  }

  /** Call it with the limits in effect. */
  changed(limits: LimitMap): void {
    this.#thresholds.clear();
    for (const [name, { kind, own }] of limits) {
      const warnAt = kind.level === 'resets' ? (own as readonly number[]) : [];
      if (warnAt.length > 0) this.#thresholds.set(name, warnAt);
    }
    this.isActive = this.#thresholds.size > 0;
  }

  decide(call: DecisionCall, batch: Batch, rest: Rest): Awaitable<Decided> {
    return andThen(rest.decide(batch), (decision) => {
      if (call === 'spend') this.look(decision);
      return decision;
    });
  }

  decideFirst(call: DecisionCall, batches: readonly Batch[], rest: Rest): Awaitable<readonly Decided[]> {
    return andThen(rest.decideFirst(batches), (tried) => {
      if (call === 'spend') this.look(tried.at(-1)!);
      return tried;
    });
  }

  /**
   * Emits the warnings of a decision of `spend`. Decisions of a failure policy are ignored: they count only a part of a
   * quota.
   */
  look(decision: Decided): void {
    if (!decision.allowed || decision.failure !== undefined) return;
    for (const [i, transaction] of decision.batch.entries()) {
      const before = decision.levelsTicks[i]!;
      this.#lookAt(transaction, { before, after: levelAfter(transaction, before) }, decision, i);
    }
  }

  /** Emits the warnings of a charge of the limiter's store. */
  lookAtCharge({ batch, reading }: Changed<Charge>): void {
    for (const [i, charge] of batch.entries()) {
      this.#lookAt(charge, stepOf(charge, reading.levelsTicks[i]!), reading, i);
    }
  }

  #lookAt(charge: Charge, { before, after }: Step, reading: StoreReading, index: number): void {
    const thresholds = this.#thresholds.get(charge.limit);
    if (thresholds === undefined || after === before) return;
    const { count } = charge.rate;
    const { endMs } = periodLeft(charge, reading, index)!;
    for (const threshold of thresholds) {
      const tokens = tokensAt(threshold, count);
      if (before < tokens && tokens <= after) this.#warn(charge, { threshold, used: after, endMs });
    }
  }

  #warn(charge: Charge, { threshold, used, endMs }: { threshold: number; used: number; endMs: number }): void {
    const { limit, id, rate, calendar } = charge;
    const { count } = rate;
    // The count is a part of it, so that a raised quota warns again.
    const warning = `${mapKeyOf(charge)}\n${calendar} ${threshold} ${count}`;
    if (this.#emitted.get(warning) === endMs) return;
    this.#emitted.delete(warning);
    this.#emitted.set(warning, endMs);
    if (this.#emitted.size > MAX_REMEMBERED) this.#emitted.delete(this.#emitted.keys().next().value!);
    const end = new Date(endMs);
    const message =
      `An id of limit "${limit}" has used ${used} of the ${count} tokens of its quota, which reaches the threshold ` +
      `${threshold}. The period ends at ${end.toISOString()}.`;
    this.#emit({ type: 'quota-warning', limit, id, used, count, threshold, end, message });
  }
}

/**
 * The store returns the level after a charge. If the bucket is empty then, the charge may have taken less than its
 * cost. In that case the lowest possible level before the charge is assumed.
 */
function stepOf({ incrementTicks, capTicks }: Charge, after: number): Step {
  return { before: after > capTicks ? after : Math.max(0, after - incrementTicks), after };
}

/** Whole tokens, rounded up. 0.07 of 100 tokens are 7, although the floating-point product is a little higher. */
function tokensAt(threshold: number, count: number): number {
  return Math.max(1, Math.ceil(threshold * count * (1 - 2 * Number.EPSILON)));
}
