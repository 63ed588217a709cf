import type { Cancel, Scheduler } from '@sluice/core/kit';
import type { Socket } from 'node:net';

const LOOK_MS = 50;
const SPOKEN_MS = 1000;

/** What a watch looks at: the socket that a connection has at the moment. */
export interface Watched {
  readonly stream: Socket | undefined;
}

/**
 * Looks after a connection that is being made: when nothing new comes from the server for as long as the patience
 * allows, its socket is destroyed, and ioredis tries again. ioredis' own `connectTimeout` does not see a server that
 * takes the connection and then says nothing. One that loads its data says so when asked, which is a sign of life.
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

  /** Begins to look, or goes on with more or less patience. */
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
      // What has arrived while the process was busy is taken in first.
      this.#cancel = this.#scheduler.afterInput(() => this.#look());
    });
  }

  #look(): void {
    const nowMs = this.#scheduler.nowMs();
    // Before anyone is told, who may stop it.
    this.#lookLater();
    if (this.#noteSign()) this.#lastSignMs = nowMs;
    else if (this.#stream !== undefined && nowMs - this.#lastSignMs >= this.#allowedMs()) this.#onStuck(this.#stream);
  }

  // A server that has spoken is there: it may have much to load.
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
