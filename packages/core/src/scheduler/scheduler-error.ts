import { SluiceError } from '../checks/errors.ts';

/**
 * Why a call was not begun:
 *
 * - `within`: its `within` has passed, or is known to pass before its turn.
 * - `maxWaiting`: as many calls as allowed are waiting already.
 * - `closed`: the scheduler was closed.
 * - `never`: no wait lets it pass, because its id is blocked.
 */
export type SchedulerReason = 'within' | 'maxWaiting' | 'closed' | 'never';

const TEXTS: Readonly<Record<SchedulerReason, string>> = {
  within: 'The call was not begun, because its turn does not come within the time given. Raise `within`, or send less.',
  maxWaiting:
    'The call was not begun, because as many calls as `maxWaiting` are waiting. Try again later, or raise it.',
  closed: 'The call was not begun, because the scheduler is closed. Make a new one with createScheduler().',
  never: 'The call was not begun, because an override blocks its id. No wait helps: remove the override.',
};

/** The error of a call that a scheduler did not begin. Nothing was taken for it, or it was given back. */
export class SchedulerError extends SluiceError {
  readonly reason: SchedulerReason;
  /** Milliseconds from then until its turn, if it was known. */
  readonly retryAfterMs: number | undefined;

  constructor(reason: SchedulerReason, retryAfterMs?: number) {
    super('ERR_NOT_BEGUN', TEXTS[reason]);
    this.reason = reason;
    this.retryAfterMs = retryAfterMs;
  }
}
