import { afterInput } from '@sluice/core/kit';

type Send = (words: readonly string[]) => Promise<unknown>;

interface Queued {
  readonly words: readonly string[];
  readonly resolve: (reply: Promise<unknown>) => void;
}

/** Redis takes longer for a call of more words than this process takes for an iteration of the event loop. */
const LONG = 32;

/**
 * Sends commands in their order, and at most one long one in each iteration of the event loop.
 *
 * node-redis writes by `setImmediate`, so that all commands of an iteration reach the server together, and so do their
 * replies to this process: one of the two waits while the other works. One after the other, the server executes a script
 * while this process decides what to do with the reply of the one before.
 */
export class PacedSender {
  readonly #send: Send;
  readonly #queue: Queued[] = [];
  #isPaused = false;

  constructor(send: Send) {
    this.#send = send;
  }

  send(words: readonly string[]): Promise<unknown> {
    if (this.#isPaused) return new Promise((resolve) => this.#queue.push({ words, resolve }));
    return this.#sendNow(words);
  }

  #sendNow(words: readonly string[]): Promise<unknown> {
    const reply = this.#send(words);
    if (words.length > LONG) {
      this.#isPaused = true;
      // After the write that node-redis has scheduled. It is not `time.endOfTurn`: calls reach a real server even while the
      // time of a test does not move.
      afterInput(this.#continue);
    }
    return reply;
  }

  readonly #continue = (): void => {
    this.#isPaused = false;
    while (!this.#isPaused && this.#queue.length > 0) {
      const { words, resolve } = this.#queue.shift()!;
      // An error that is thrown rejects the promise too.
      resolve(new Promise((resolveReply) => resolveReply(this.#sendNow(words))));
    }
  };
}
