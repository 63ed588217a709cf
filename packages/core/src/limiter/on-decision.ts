import { andThen, callAndForget, type Awaitable } from '../async/awaitable.ts';
import { reasonOf } from '../checks/errors.ts';
import type { Decision } from '../decision/decision.ts';
import { decisionChannel, type EventSink } from '../events/event.ts';
import type { Time } from '../time/time.ts';
import type { Limiter } from './limiter.ts';

/** The context of a decision. */
export interface DecisionContext<Request = unknown> {
  /** The framework's request. Not set for decisions without HTTP. */
  readonly request?: Request;
  /** True when the middleware has `shadow: true`: the request was let through whatever the decision. */
  readonly shadow: boolean;
}

/** Receives decisions. The limiter does not wait for it. */
export type OnDecision<Request = unknown> = (decision: Decision, context: DecisionContext<Request>) => unknown;

/** A message of the diagnostics channel `sluice:decision`. */
export interface DecisionMessage extends DecisionContext {
  readonly limiter: Limiter<never>;
  readonly decision: Decision;
  /**
   * Milliseconds from the beginning of the decision, when ids and costs were known, to its end. Left out when nobody had
   * subscribed at the beginning.
   */
  readonly durationMs?: number | undefined;
}

/** The context of decisions without HTTP. */
export const WITHOUT_HTTP: DecisionContext<never> = { shadow: false };

/** The parts of {@link DecisionReports}. */
export interface DecisionReportsParts<Request> {
  readonly limiter: Limiter<Request>;
  readonly onDecision: OnDecision<Request> | undefined;
  readonly emit: EventSink;
  readonly time: Time;
}

/** Reports the decisions of one limiter to its `onDecision` and to the channel `sluice:decision`. */
export class DecisionReports<Request> {
  readonly #parts: DecisionReportsParts<Request>;
  /** Of decisions that are still to be published: how long they took. */
  readonly #durationsMs = new WeakMap<Decision, number>();

  constructor(parts: DecisionReportsParts<Request>) {
    this.#parts = parts;
  }

  /** Whether anybody receives reports. */
  get isNeeded(): boolean {
    return this.#parts.onDecision !== undefined || decisionChannel.hasSubscribers;
  }

  /** Measures a decision, for the channel. */
  timed(decide: () => Awaitable<Decision>): Awaitable<Decision> {
    const { time } = this.#parts;
    const beganMicros = time.nowMicros();
    return andThen(decide(), (decision) => {
      this.#durationsMs.set(decision, (time.nowMicros() - beganMicros) / 1000);
      return decision;
    });
  }

  report(decision: Decision, context: DecisionContext<Request>): void {
    const { limiter, onDecision, emit } = this.#parts;
    if (onDecision !== undefined) callOnDecision(emit, () => onDecision(decision, context));
    if (!decisionChannel.hasSubscribers) return;
    const durationMs = this.#durationsMs.get(decision);
    const message: DecisionMessage = { ...context, limiter, decision, durationMs };
    decisionChannel.publish(message);
  }
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
