import type { Cancel, Scheduler } from '@sluice/core/kit';
import type { Socket } from 'node:net';

const INSPECTION_INTERVAL_MS = 50;
const ALIVE_TIMEOUT_MS = 1000;

/**
 * Watches a connection that is being made. If the server sends nothing for the allowed time, `onStuck` is called with
 * the socket. `connectTimeout` of ioredis does not cover a server that accepts the connection and then sends nothing. A
 * server that is loading its data still answers INFO, which counts as a sign of life.
 */
export class ConnectWatch {
  readonly #getSocket: () => Socket | undefined;
  readonly #scheduler: Scheduler;
  readonly #onStuck: (socket: Socket) => void;
  #timeoutMs = 0;
  #cancel: Cancel | undefined;
  #socket: Socket | undefined;
  #bytesRead = 0;
  #lastSignMs = 0;

  /** @param getSocket - Returns the current socket of the connection. */
  constructor(getSocket: () => Socket | undefined, scheduler: Scheduler, onStuck: (socket: Socket) => void) {
    this.#getSocket = getSocket;
    this.#scheduler = scheduler;
    this.#onStuck = onStuck;
  }

  /** Starts watching, or restarts with another allowed time in milliseconds. */
  start(timeoutMs: number): void {
    this.stop();
    this.#timeoutMs = timeoutMs;
    this.#lastSignMs = this.#scheduler.nowMs();
    this.#noteSign();
    this.#scheduleInspection();
  }

  stop(): void {
    this.#cancel?.();
    this.#cancel = undefined;
  }

  #scheduleInspection(): void {
    this.#cancel = this.#scheduler.after(INSPECTION_INTERVAL_MS, () => {
      // If the process was busy, data that has arrived in the meantime is read first.
      this.#cancel = this.#scheduler.afterInput(() => this.#inspect());
    });
  }

  #inspect(): void {
    const nowMs = this.#scheduler.nowMs();
    // Scheduled before `onStuck` is called, because that may stop the watch.
    this.#scheduleInspection();
    if (this.#noteSign()) this.#lastSignMs = nowMs;
    else if (this.#socket !== undefined && nowMs - this.#lastSignMs >= this.#allowedMs()) this.#onStuck(this.#socket);
  }

  // A server that has sent something is alive, and gets at least a second between two answers.
  #allowedMs(): number {
    return this.#bytesRead > 0 ? Math.max(ALIVE_TIMEOUT_MS, this.#timeoutMs) : this.#timeoutMs;
  }

  #noteSign(): boolean {
    const socket = this.#getSocket();
    const bytesRead = socket?.bytesRead ?? 0;
    const isSign = socket !== this.#socket || bytesRead !== this.#bytesRead;
    this.#socket = socket;
    this.#bytesRead = bytesRead;
    return isSign;
  }
}

const SHORT_MS = 250;
const LONG_MS = 1000;

/**
 * The time that an attempt to connect may take without a sign of life. Most attempts have a short time, so that a
 * hanging attempt is soon replaced. Every fourth has a long time, so that a distant server is reached too.
 */
export class ConnectTimeout {
  #attempt = 0;

  /** The time of the current attempt, in milliseconds. */
  get ms(): number {
    return this.#attempt % 4 === 0 ? LONG_MS : SHORT_MS;
  }

  /** Called when an attempt begins. */
  next(): void {
    this.#attempt += 1;
  }

  /** Called when an attempt has succeeded. */
  reset(): void {
    this.#attempt = 0;
  }
}

const SILENCE_MS = 100;

/**
 * Watches a connection with an overdue answer. If the server sends nothing at all for 100 ms after a missed deadline,
 * `onSilence` is called with the socket. A server that is only slow still sends other answers.
 */
export class SilenceWatch {
  readonly #getSocket: () => Socket | undefined;
  readonly #scheduler: Scheduler;
  readonly #onSilence: (socket: Socket) => void;
  #cancel: Cancel | undefined;

  /** @param getSocket - Returns the current socket of the connection. */
  constructor(getSocket: () => Socket | undefined, scheduler: Scheduler, onSilence: (socket: Socket) => void) {
    this.#getSocket = getSocket;
    this.#scheduler = scheduler;
    this.#onSilence = onSilence;
  }

  /** Starts watching because an answer is overdue. Has no effect while the watch runs. */
  start(): void {
    const socket = this.#getSocket();
    if (socket === undefined || this.#cancel !== undefined) return;
    const { bytesRead } = socket;
    this.#cancel = this.#scheduler.after(SILENCE_MS, () => {
      this.#cancel = this.#scheduler.afterInput(() => {
        this.#cancel = undefined;
        if (socket === this.#getSocket() && socket.bytesRead === bytesRead) this.#onSilence(socket);
      });
    });
  }

  stop(): void {
    this.#cancel?.();
    this.#cancel = undefined;
  }
}
