import type { Clock, StoreReading } from '@sluice/core';
import { Ask, type AskListener, type AskParts } from './batch-request.ts';
import { CallQueue } from './coalescer.ts';
import type { Line } from '../client/script-client.ts';

/** Sends batches to the servers. */
export interface Asker {
  ask(parts: AskParts): Promise<StoreReading>;
  /** Sends queued batches, and resolves when the refunds that no caller awaits have settled. */
  drain(): Promise<void>;
}

/** Sends all batches to a single server. */
export class StandaloneAsker implements Asker {
  readonly #queue: CallQueue;
  readonly #listener: AskListener;

  constructor(line: Line, clock: Clock, listener: AskListener) {
    this.#queue = new CallQueue(line, clock);
    this.#listener = listener;
  }

  ask(parts: AskParts): Promise<StoreReading> {
    const ask = new Ask(parts, this.#listener);
    this.#queue.add(ask);
    return ask.reading;
  }

  drain(): Promise<void> {
    this.#queue.send();
    return Promise.resolve();
  }
}
