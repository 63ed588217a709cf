import type { Decided } from '../decision/decided.ts';
import type { Decision } from '../decision/decision.ts';
import { closed } from '../failure/store-gate.ts';
import type { Leave } from '../limiter/queued-decisions.ts';
import type { LimiterCore } from '../limiter/limiter-core.ts';
import { perform } from '../limiter/run.ts';
import type { ScheduledCall } from './scheduled-call.ts';
import { SchedulerError } from './scheduler-error.ts';

interface BegunCallsParts {
  readonly limiter: LimiterCore<never>;
  /** A call has left the scheduler to begin. */
  readonly began: (call: ScheduledCall) => void;
  /** The turn of a call is reserved. */
  readonly reserved: (call: ScheduledCall) => void;
  /** The tokens of a call are taken, and it can't begin. */
  readonly failed: (call: ScheduledCall, error: unknown) => void;
  /** Work has ended. */
  readonly ended: (call: ScheduledCall, mayGiveBack: boolean) => void;
}

/** The calls of which the tokens are taken: they wait for their turns, and their work is done. */
export class BegunCalls {
  readonly #parts: BegunCallsParts;
  /** How the calls that wait for their turns give their tokens back. */
  readonly #reserved = new Map<ScheduledCall, Leave>();

  constructor(parts: BegunCallsParts) {
    this.#parts = parts;
  }

  /** Begins a call at its turn. */
  begin(call: ScheduledCall, decision: Decided): void {
    const { limiter, failed, reserved } = this.#parts;
    const { delayMs } = decision;
    if (call.state === 'begun') return this.#giveBack(decision);
    if (delayMs === 0) return this.#start(call, decision);
    if (limiter.time.nowMicros() + delayMs * 1000 > call.untilMicros) {
      this.#giveBack(decision);
      return failed(call, new SchedulerError('within', delayMs));
    }
    call.state = 'reserved';
    reserved(call);
    const leave = limiter.delay(decision, (how) => {
      if (how === 'over') this.#start(call, decision);
      else failed(call, closed());
    });
    this.#reserved.set(call, () => {
      void decision.release();
      return leave();
    });
  }

  /** Gives the tokens of a call back that waits for its turn. */
  leave(call: ScheduledCall): void {
    const leave = this.#reserved.get(call);
    if (leave === undefined) return;
    this.#reserved.delete(call);
    leave();
  }

  #giveBack(decision: Decision): void {
    const { limiter } = this.#parts;
    void limiter.refund(decision).catch(ignore);
    void decision.release();
  }

  #start(call: ScheduledCall, decision: Decided): void {
    const { limiter, began } = this.#parts;
    this.#reserved.delete(call);
    began(call);
    const { context, work, options } = call;
    const done =
      context === undefined
        ? perform(limiter, decision, work, options)
        : context.runInAsyncScope(() => perform(limiter, decision, work, options));
    const mayGiveBack = decision.holding !== undefined || options.settle !== undefined;
    done.then(
      ({ value }) => {
        call.resolve(value);
        this.#parts.ended(call, mayGiveBack);
      },
      (error: unknown) => {
        call.reject(error);
        // Work that left may have given its tokens back: a door does so for a request that was not sent.
        this.#parts.ended(call, mayGiveBack || options.signal?.aborted === true || error instanceof SchedulerError);
      },
    );
  }
}

// It fails only when the limiter is closed. The tokens then refill over time.
function ignore(): void {}
