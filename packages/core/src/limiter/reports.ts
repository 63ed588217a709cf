import { callAndForget, type Awaitable } from '../async/awaitable.ts';
import { reasonOf } from '../checks/errors.ts';
import type { Decided } from '../decision/decided.ts';
import type { Decision } from '../decision/decision.ts';
import { correctionChannel, decisionChannel, type EventSink } from '../events/event.ts';
import { traced, tracing } from '../events/trace.ts';
import type { Time } from '../time/time.ts';
import type { Limiter } from './limiter.ts';
import type { Correction, CorrectionDirection, Observer } from './observer.ts';

/** The context of a decision. */
export interface DecisionContext<Request = unknown> {
  /** The framework's request. Not set for decisions without HTTP. */
  readonly request?: Request;
  /** True when the middleware or the `spend` has `shadow: true`: the request was let through whatever the decision. */
  readonly shadow: boolean;
}

/** Receives decisions. The limiter does not wait for it. */
export type OnDecision<Request = unknown> = (decision: Decision, context: DecisionContext<Request>) => unknown;

/** A message of the diagnostics channel `sluice:decision`. */
export interface DecisionMessage extends DecisionContext {
  readonly limiter: Limiter<never>;
  readonly decision: Decision;
  /**
   * Milliseconds from the beginning of the decision, when ids and costs were known, to its end. Left out when the store
   * answers at once, and when nobody had subscribed at the beginning.
   */
  readonly durationMs?: number | undefined;
}

/** A message of the diagnostics channel `sluice:correction`. */
export interface CorrectionMessage extends Correction {
  readonly limiter: Limiter<never>;
}

/** The context of decisions without HTTP. */
export const WITHOUT_HTTP: DecisionContext<never> = { shadow: false };
export const IN_SHADOW: DecisionContext<never> = { shadow: true };

/** The parts of {@link Reports}. */
export interface ReportsParts<Request> {
  readonly limiter: Limiter<Request>;
  readonly onDecision: OnDecision<Request> | undefined;
  readonly emit: EventSink;
  readonly time: Time;
}

/** Reports what one limiter decides and changes: to its `onDecision`, to its counts and to the channels. */
export class Reports<Request> {
  readonly #parts: ReportsParts<Request>;
  #observer: Observer | undefined;
  #isObserved: boolean;

  constructor(parts: ReportsParts<Request>) {
    this.#parts = parts;
    this.#isObserved = parts.onDecision !== undefined;
  }

  /** Lets an observer see all that follows, in place of the one before. */
  observe(observer: Observer): void {
    this.#observer = observer;
    this.#isObserved = true;
  }

  /** Whether anybody watches decisions. */
  get isNeeded(): boolean {
    return this.#isObserved || decisionChannel.hasSubscribers || tracing.hasSubscribers;
  }

  /** Whether anybody wants to know how long decisions take. */
  get areTimed(): boolean {
    return this.#observer !== undefined || decisionChannel.hasSubscribers || tracing.hasSubscribers;
  }

  /** Whether anybody receives corrections. */
  get hasCorrectionListener(): boolean {
    return this.#observer !== undefined || correctionChannel.hasSubscribers;
  }

  /** The clock of durations. */
  nowMicros(): number {
    return this.#parts.time.nowMicros();
  }

  /** Notes how long a decision took, and returns it. */
  timed(decision: Decided, beganMicros: number): Decided {
    decision.durationMs = (this.nowMicros() - beganMicros) / 1000;
    return decision;
  }

  /** Makes a decision that is traced. */
  traced(decide: () => Awaitable<Decided>, batch: readonly { readonly limit: string }[]): Promise<Decided> {
    const limits = batch.map(({ limit }) => limit);
    return traced(decide, { limiter: this.#parts.limiter, limits: [...new Set(limits)] });
  }

  /** Reports a decision, and returns it. */
  report(decision: Decided, context: DecisionContext<Request>): Decided {
    const { limiter, onDecision, emit } = this.#parts;
    this.#observer?.decided(decision, context.shadow);
    if (onDecision !== undefined) callOnDecision(emit, () => onDecision(decision, context));
    if (decisionChannel.hasSubscribers) decisionChannel.publish(messageOf(limiter, decision, context));
    return decision;
  }

  /** Lets the observer know that nothing follows. */
  closed(): void {
    this.#observer?.closed(this.#parts.limiter);
  }

  /** Reports what was changed of buckets. */
  corrected(
    direction: CorrectionDirection,
    buckets: readonly { readonly limit: string; readonly cost: number }[],
  ): void {
    if (!this.hasCorrectionListener) return;
    for (const { limit, cost } of buckets) {
      this.#observer?.corrected({ limit, cost, direction });
      if (!correctionChannel.hasSubscribers) continue;
      const message: CorrectionMessage = { limiter: this.#parts.limiter, limit, cost, direction };
      correctionChannel.publish(message);
    }
  }
}

// Written out, because a spread costs more than the decision.
function messageOf(limiter: Limiter<never>, decision: Decided, context: DecisionContext): DecisionMessage {
  const { durationMs } = decision;
  return 'request' in context
    ? { request: context.request, shadow: context.shadow, limiter, decision, durationMs }
    : { shadow: context.shadow, limiter, decision, durationMs };
}

/** Calls a user's `onDecision`. If it throws or rejects, an event is emitted; the request is not affected. */
export function callOnDecision(emit: EventSink, call: () => unknown): void {
  callAndForget(call, (cause) =>
    emit({
      type: 'callback-failed',
      callback: 'onDecision',
      cause,
      message: `The onDecision function failed (${reasonOf(cause)}). The request was not affected.`,
    }),
  );
}
