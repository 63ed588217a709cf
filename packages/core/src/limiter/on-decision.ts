import type { Decision } from '../decision/decision.ts';
import { reasonOf } from '../checks/errors.ts';
import type { EventSink } from '../events/event.ts';
import { callAndForget } from '../async/awaitable.ts';
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
