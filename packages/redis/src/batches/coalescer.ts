import { SluiceError, type Clock } from '@sluice/core';
import type { Ask } from './batch-request.ts';
import { DecideCall } from './script-batch.ts';
import type { Line } from '../client/script-client.ts';
import { errorWord } from '../client/server-errors.ts';

/** The maximum number of transactions in a combined call. A longer call blocks the server for longer than it saves. */
export const MOST_TRANSACTIONS = 32;

/**
 * Combines the batches of one iteration of the event loop into one script call, in the order of their arrival.
 *
 * The call is sent by `setImmediate`, directly after Node has read its sockets and run their callbacks. Requests that
 * arrive together are therefore decided together, and a request that arrives alone does not wait for another iteration.
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
   * Adds a batch to the current call. A batch is never split, so one with more than 32 transactions makes a longer
   * call. All batches of a call have the same deadline, so that a batch with a long deadline does not fail because
   * another one had a short deadline.
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

  /** Sends the current call, if there is one. */
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

  // TRYAGAIN: a slot is being moved, and the keys of this call are on both nodes. Nothing was executed. Sent alone,
  // only a batch that itself has keys on both nodes fails.
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
