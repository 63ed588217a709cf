import type { Decided } from '../decision/decided.ts';
import type { Decision } from '../decision/decision.ts';
import { closed } from '../failure/store-gate.ts';
import type { LimiterCore } from '../limiter/limiter-core.ts';
import { perform } from '../limiter/run.ts';
import { mapKeyOf } from '../store/bucket-key.ts';
import { Nesting } from './nesting.ts';
import type { ScheduledCall } from './scheduled-call.ts';
import { SchedulerError } from './scheduler-error.ts';

interface BegunCallsParts {
  readonly limiter: LimiterCore<never>;
  readonly nesting: Nesting;
  /** A call has left the scheduler to begin. */
  readonly began: (call: ScheduledCall) => void;
  /** The tokens of a call are taken, and it can't begin. */
  readonly failed: (call: ScheduledCall, error: unknown) => void;
  /** Work has ended. */
  readonly ended: (call: ScheduledCall, mayGiveBack: boolean) => void;
}

/** The calls of which the tokens are taken: they wait for their turns, and their work is done. */
export class BegunCalls {
  readonly #parts: BegunCallsParts;
  readonly #reserved = new Set<ScheduledCall>();

  constructor(parts: BegunCallsParts) {
    this.#parts = parts;
  }

  /** The calls that wait for their turns. */
  get reserved(): readonly ScheduledCall[] {
    return [...this.#reserved];
  }

  /** Begins a call at its turn. */
  begin(call: ScheduledCall, decision: Decided): void {
    const { limiter, failed } = this.#parts;
    const { delayMs } = decision;
    if (call.state === 'begun') return this.#giveBack(decision);
    if (delayMs === 0) return this.#start(call, decision);
    if (limiter.time.nowMicros() + delayMs * 1000 > call.untilMicros) {
      this.#giveBack(decision);
      return failed(call, new SchedulerError('within', delayMs));
    }
    call.state = 'reserved';
    this.#reserved.add(call);
    const leave = limiter.delay(decision, (how) => {
      if (how === 'over') this.#start(call, decision);
      else failed(call, closed());
    });
    call.leave = () => {
      this.#reserved.delete(call);
      void decision.release();
      return leave();
    };
  }

  #giveBack(decision: Decision): void {
    const { limiter } = this.#parts;
    void limiter.refund(decision).catch(ignore);
    void decision.release();
  }

  #start(call: ScheduledCall, decision: Decided): void {
    const { limiter, nesting, began } = this.#parts;
    this.#reserved.delete(call);
    began(call);
    const work = (): Promise<{ readonly value: unknown }> => perform(limiter, decision, call.work, call.options);
    const holds = decision.holding !== undefined;
    const done = holds ? nesting.inside(heldBy(decision), call.trace!, work) : work();
    const mayGiveBack = holds || call.options.settle !== undefined;
    done.then(
      ({ value }) => {
        call.resolve(value);
        this.#parts.ended(call, mayGiveBack);
      },
      (error: unknown) => {
        call.reject(error);
        this.#parts.ended(call, mayGiveBack);
      },
    );
  }
}

function heldBy({ batch }: Decided): readonly string[] {
  return batch.filter(({ rate }) => rate.kind.level === 'held').map(mapKeyOf);
}

// It fails only when the limiter is closed. The tokens then refill over time.
function ignore(): void {}
