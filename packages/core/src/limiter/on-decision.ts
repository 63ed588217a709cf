import type { Decision } from '../decision/decision.ts';
import { reasonOf } from '../checks/errors.ts';
import type { Notify } from '../events/event.ts';
import { runUnawaited } from '../async/call-and-forget.ts';

/** Where a decision was made. */
export interface DecisionContext<Request = unknown> {
  /** The framework's request that was decided. Left out of decisions without HTTP. */
  readonly request?: Request;
  /** True when the middleware has `shadow: true`: the request went on whatever was decided. */
  readonly shadow: boolean;
}

/** Told of decisions; never awaited. */
export type OnDecision<Request = unknown> = (decision: Decision, context: DecisionContext<Request>) => unknown;

/** The context of decisions without HTTP. */
export const WITHOUT_HTTP: DecisionContext<never> = { shadow: false };

/** Calls a user's `onDecision`. What it throws or rejects with is an event, and harms no request. */
export function callOnDecision(notify: Notify, call: () => unknown): void {
  runUnawaited(call, (cause) =>
    notify({
      type: 'callback-failed',
      callback: 'onDecision',
      cause,
      message: `The onDecision function failed (${reasonOf(cause)}). The request was not affected.`,
    }),
  );
}
