import { SluiceError, type Clock } from '@sluice/core';
import type { Ask } from './ask.ts';
import { DecideCall } from './decide-call.ts';
import type { Line } from './line/line.ts';
import { errorWord } from './line/server-error.ts';

/** More transactions than that in one call hold the server up for longer than they save. */
export const MOST_TRANSACTIONS = 32;

/**
 * Puts batches that are asked in one turn of the event loop into one script call, in the order in which they came.
 *
 * The turn is that in which Node takes in what has arrived at its sockets: requests that come in together are decided
 * together, and one that comes alone is sent at the end of its turn, which is when its own callbacks have run.
 */
export class CallQueue {
  readonly #line: Line;
  readonly #clock: Clock;
  #call: DecideCall | undefined;
  #awaitsEndOfTurn = false;

  constructor(line: Line, clock: Clock) {
    this.#line = line;
    this.#clock = clock;
  }

  /**
   * An ask with more than 32 transactions makes a longer call: a batch is never parted. Those of one call have one
   * deadline: who waits for long must not fail with who does not.
   */
  add(ask: Ask): void {
    if (this.#call?.takes(ask, MOST_TRANSACTIONS) === false) this.send();
    const call = (this.#call ??= new DecideCall(ask.deadlineMs, this.#clock.nowMicros()));
    call.add(ask);
    if (call.size >= MOST_TRANSACTIONS) return this.send();
    if (this.#awaitsEndOfTurn) return;
    this.#awaitsEndOfTurn = true;
    setImmediate(this.#endOfTurn);
  }

  /** Sends what waits, if anything does. */
  send(): void {
    const call = this.#call;
    this.#call = undefined;
    if (call !== undefined) this.#run(call);
  }

  #run(call: DecideCall): void {
    const nowMicros = this.#clock.nowMicros();
    const scriptCall = call.toScriptCall(nowMicros);
    if (scriptCall.waitedMs >= scriptCall.deadlineMs) return call.fail(stalled());
    this.#line.run(scriptCall).then(
      (reply) => call.answer(reply, nowMicros),
      (error: unknown) => this.#failed(call, error),
    );
  }

  // Only a batch that has buckets at both ends of the move must wait for it. Nothing was done yet for any.
  #failed(call: DecideCall, error: unknown): void {
    const isParted = error instanceof SluiceError && errorWord(error.cause) === 'TRYAGAIN' && call.hasSeveralAsks;
    if (!isParted) return call.fail(error);
    for (const alone of call.parted()) this.#run(alone);
  }

  readonly #endOfTurn = (): void => {
    this.#awaitsEndOfTurn = false;
    this.send();
  };
}

function stalled(): SluiceError {
  const message = 'This process was busy for longer than the deadline before it could ask Redis. Nothing was sent.';
  return new SluiceError('ERR_STORE_DEADLINE', message);
}
