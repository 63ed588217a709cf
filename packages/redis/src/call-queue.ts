import { SluiceError } from '@sluice/core';
import type { Ask } from './ask.ts';
import { DecideCall } from './decide-call.ts';
import type { Line } from './line/line.ts';

/** More transactions than that in one call hold the server up for longer than they save. */
const MOST_TRANSACTIONS = 32;

/**
 * Puts batches that are asked in one turn of the event loop into one script call, in the order in which they came.
 *
 * The turn is that in which Node takes in what has arrived at its sockets: requests that come in together are decided
 * together, and one that comes alone is sent at the end of its turn, which is when its own callbacks have run.
 */
export class CallQueue {
  readonly #line: Line;
  #call: DecideCall | undefined;
  #sinceMs = 0;
  #awaitsEndOfTurn = false;

  constructor(line: Line) {
    this.#line = line;
  }

  /** An ask with more than 32 transactions makes a longer call: a batch is never parted. */
  add(ask: Ask): void {
    if (this.#call !== undefined && this.#call.size + ask.keys.length > MOST_TRANSACTIONS) this.send();
    const call = (this.#call ??= this.#newCall());
    call.add(ask);
    if (call.size >= MOST_TRANSACTIONS) return this.send();
    if (this.#awaitsEndOfTurn) return;
    this.#awaitsEndOfTurn = true;
    setImmediate(this.#endOfTurn);
  }

  /** Sends what waits, if anything does. */
  send(): void {
    const call = this.#call;
    if (call === undefined) return;
    this.#call = undefined;
    const scriptCall = call.toScriptCall(performance.now() - this.#sinceMs);
    if (scriptCall.deadlineMs <= 0) return call.fail(stalled());
    this.#line.run(scriptCall).then(
      (reply) => call.answer(reply),
      (error: unknown) => call.fail(error),
    );
  }

  #newCall(): DecideCall {
    this.#sinceMs = performance.now();
    return new DecideCall();
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
