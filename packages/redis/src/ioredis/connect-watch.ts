import type { Cancel, Scheduler } from '@sluice/core/kit';
import type { Socket } from 'node:net';

const LOOK_MS = 50;
const SPOKEN_MS = 1000;

/** The connection that is watched, with its current socket. */
export interface Watched {
  readonly stream: Socket | undefined;
}

/**
 * Watches a connection that is being made. If the server sends nothing for the allowed time, `onStuck` is called with
 * the socket. `connectTimeout` of ioredis does not cover a server that accepts the connection and then sends nothing. A
 * server that is loading its data still answers INFO, which counts as a sign of life.
 */
export class ConnectWatch {
  readonly #watched: Watched;
  readonly #scheduler: Scheduler;
  readonly #onStuck: (stream: Socket) => void;
  #patienceMs = 0;
  #cancel: Cancel | undefined;
  #stream: Socket | undefined;
  #bytesRead = 0;
  #lastSignMs = 0;

  constructor(watched: Watched, scheduler: Scheduler, onStuck: (stream: Socket) => void) {
    this.#watched = watched;
    this.#scheduler = scheduler;
    this.#onStuck = onStuck;
  }

  /** Starts watching, or restarts with another allowed time in milliseconds. */
  start(patienceMs: number): void {
    this.stop();
    this.#patienceMs = patienceMs;
    this.#lastSignMs = this.#scheduler.nowMs();
    this.#noteSign();
    this.#lookLater();
  }

  stop(): void {
    this.#cancel?.();
    this.#cancel = undefined;
  }

  #lookLater(): void {
    this.#cancel = this.#scheduler.after(LOOK_MS, () => {
      // If the process was busy, data that has arrived in the meantime is read first.
      this.#cancel = this.#scheduler.afterInput(() => this.#look());
    });
  }

  #look(): void {
    const nowMs = this.#scheduler.nowMs();
    // Scheduled before `onStuck` is called, because that may stop the watch.
    this.#lookLater();
    if (this.#noteSign()) this.#lastSignMs = nowMs;
    else if (this.#stream !== undefined && nowMs - this.#lastSignMs >= this.#allowedMs()) this.#onStuck(this.#stream);
  }

  // A server that has sent something is alive, and gets at least a second between two answers.
  #allowedMs(): number {
    return this.#bytesRead > 0 ? Math.max(SPOKEN_MS, this.#patienceMs) : this.#patienceMs;
  }

  #noteSign(): boolean {
    const { stream } = this.#watched;
    const bytesRead = stream?.bytesRead ?? 0;
    const isSign = stream !== this.#stream || bytesRead !== this.#bytesRead;
    this.#stream = stream;
    this.#bytesRead = bytesRead;
    return isSign;
  }
}
