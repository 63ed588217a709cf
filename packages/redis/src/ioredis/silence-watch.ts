import type { Cancel, Scheduler } from '@sluice/core/kit';
import type { Socket } from 'node:net';
import type { Watched } from './connect-watch.ts';

const SILENCE_MS = 100;

/**
 * Watches a connection with an overdue answer. If the server sends nothing at all for 100 ms after a missed deadline,
 * `onSilence` is called with the socket. A server that is only slow still sends other answers.
 */
export class SilenceWatch {
  readonly #watched: Watched;
  readonly #scheduler: Scheduler;
  readonly #onSilence: (stream: Socket) => void;
  #cancel: Cancel | undefined;

  constructor(watched: Watched, scheduler: Scheduler, onSilence: (stream: Socket) => void) {
    this.#watched = watched;
    this.#scheduler = scheduler;
    this.#onSilence = onSilence;
  }

  /** Notes that an answer is overdue. */
  missed(): void {
    const { stream } = this.#watched;
    if (stream === undefined || this.#cancel !== undefined) return;
    const { bytesRead } = stream;
    this.#cancel = this.#scheduler.after(SILENCE_MS, () => {
      this.#cancel = this.#scheduler.afterInput(() => {
        this.#cancel = undefined;
        if (stream === this.#watched.stream && stream.bytesRead === bytesRead) this.#onSilence(stream);
      });
    });
  }

  stop(): void {
    this.#cancel?.();
    this.#cancel = undefined;
  }
}
