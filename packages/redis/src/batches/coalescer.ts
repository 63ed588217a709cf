import { SluiceError, type Time } from '@sluice/core';
import { afterInput } from '@sluice/core/kit';
import type { ScriptClient } from '../client/script-client.ts';
import type { BatchRequest } from './batch-request.ts';
import { ScriptBatch } from './script-batch.ts';

/** The maximum number of transactions in a combined call. A longer call blocks the server for longer than it saves. */
export const MAX_TRANSACTIONS = 32;

/**
 * Combines the batches of one iteration of the event loop into one script call, in the order of their arrival.
 *
 * The call is sent directly after Node has read its sockets and run their callbacks. Requests that arrive together are
 * therefore decided together, and a request that arrives alone does not wait for another iteration. It is not
 * `time.endOfTurn`: calls reach a real server even while the time of a test does not move.
 */
export class Coalescer {
  readonly #client: ScriptClient;
  readonly #time: Time;
  #current: ScriptBatch | undefined;
  #isScheduled = false;

  constructor(client: ScriptClient, time: Time) {
    this.#client = client;
    this.#time = time;
  }

  /**
   * Adds a batch to the current call. A batch is never split, so one with more than 32 transactions makes a longer
   * call. All batches of a call have the same deadline, so that a batch with a long deadline does not fail because
   * another one had a short deadline.
   */
  add(request: BatchRequest): void {
    if (this.#current?.hasRoomFor(request, MAX_TRANSACTIONS) === false) this.flush();
    const call = (this.#current ??= new ScriptBatch(request.deadlineMs, this.#time.nowMicros(), this.#send));
    call.add(request);
    if (call.size >= MAX_TRANSACTIONS) return this.flush();
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    afterInput(this.#flushScheduled);
  }

  /** Sends the current call, if there is one. */
  flush(): void {
    const call = this.#current;
    this.#current = undefined;
    if (call !== undefined) this.#send(call);
  }

  readonly #send = (call: ScriptBatch): void => {
    call.sentMicros = this.#time.nowMicros();
    if (call.leftMs(call.sentMicros) <= 0) call.failed(stalledError());
    else this.#client.send(call, call.sentMicros);
  };

  readonly #flushScheduled = (): void => {
    this.#isScheduled = false;
    this.flush();
  };
}

function stalledError(): SluiceError {
  const message = 'This process was busy for longer than the deadline before it could ask Redis. Nothing was sent.';
  return new SluiceError('ERR_STORE_DEADLINE', message);
}
