import type { Time } from '@sluice/core';
import type { Cancel } from '@sluice/core/store';
import type { ConnectionSocket } from './connection.ts';

const INSPECTION_INTERVAL_MS = 50;
const ALIVE_TIMEOUT_MS = 1000;

/**
 * Watches a connection that is being made. If the server sends nothing for the allowed time, `onStuck` is called with
 * the socket. The timeouts of clients do not cover a server that accepts the connection and then sends nothing. A
 * server that is loading its data still answers INFO, which counts as a sign of life.
 */
export class ConnectWatch {
  readonly #getSocket: () => ConnectionSocket | undefined;
  readonly #time: Time;
  readonly #onStuck: (socket: ConnectionSocket) => void;
  #timeoutMs = 0;
  #cancel: Cancel | undefined;
  #socket: ConnectionSocket | undefined;
  #bytesRead = 0;
  #lastSignMicros = 0;

  /** @param getSocket - Returns the current socket of the connection. */
  constructor(getSocket: () => ConnectionSocket | undefined, time: Time, onStuck: (socket: ConnectionSocket) => void) {
    this.#getSocket = getSocket;
    this.#time = time;
    this.#onStuck = onStuck;
  }

  /** Starts watching, or restarts with another allowed time in milliseconds. */
  start(timeoutMs: number): void {
    this.stop();
    this.#timeoutMs = timeoutMs;
    this.#lastSignMicros = this.#time.nowMicros();
    this.#noteSign();
    this.#scheduleInspection();
  }

  stop(): void {
    this.#cancel?.();
    this.#cancel = undefined;
  }

  #scheduleInspection(): void {
    const alarm = this.#time.alarm(INSPECTION_INTERVAL_MS, () => {
      // If the process was busy, data that has arrived in the meantime is read first.
      this.#cancel = this.#time.endOfTurn(() => this.#inspect());
    });
    this.#cancel = alarm.cancel;
  }

  #inspect(): void {
    const nowMicros = this.#time.nowMicros();
    // Scheduled before `onStuck` is called, because that may stop the watch.
    this.#scheduleInspection();
    const silentMs = (nowMicros - this.#lastSignMicros) / 1000;
    if (this.#noteSign()) this.#lastSignMicros = nowMicros;
    else if (this.#socket !== undefined && silentMs >= this.#allowedMs()) this.#onStuck(this.#socket);
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
 * The attempts to connect to one server since a connection to it was last open, and the time that an attempt may take
 * without a sign of life. Most attempts have a short time, so that a hanging attempt is soon replaced. Every fourth has a
 * long time, so that a distant server is reached too.
 */
export class ConnectTimeout {
  #attempt = 0;
  #hasFailed = false;

  /** The time of the current attempt, in milliseconds. */
  get ms(): number {
    return this.#attempt % 4 === 0 ? LONG_MS : SHORT_MS;
  }

  /** Whether an attempt has failed since a connection was last open. */
  get hasFailed(): boolean {
    return this.#hasFailed;
  }

  /** Called when an attempt begins. */
  next(): void {
    this.#attempt += 1;
  }

  /** Called when an attempt has failed. */
  noteFailure(): void {
    this.#hasFailed = true;
  }

  /** Called when an attempt has succeeded. */
  reset(): void {
    this.#attempt = 0;
    this.#hasFailed = false;
  }
}

const SILENCE_MS = 100;

/**
 * Watches a connection with an overdue answer. If the server sends nothing at all for 100 ms after a missed deadline,
 * `onSilence` is called with the socket. A server that is only slow still sends other answers.
 */
export class SilenceWatch {
  readonly #getSocket: () => ConnectionSocket | undefined;
  readonly #time: Time;
  readonly #onSilence: (socket: ConnectionSocket) => void;
  #cancel: Cancel | undefined;

  /** @param getSocket - Returns the current socket of the connection. */
  constructor(
    getSocket: () => ConnectionSocket | undefined,
    time: Time,
    onSilence: (socket: ConnectionSocket) => void,
  ) {
    this.#getSocket = getSocket;
    this.#time = time;
    this.#onSilence = onSilence;
  }

  /** Starts watching because an answer is overdue. Has no effect while the watch runs. */
  start(): void {
    const socket = this.#getSocket();
    if (socket === undefined || this.#cancel !== undefined) return;
    const { bytesRead } = socket;
    const alarm = this.#time.alarm(SILENCE_MS, () => {
      this.#cancel = this.#time.endOfTurn(() => {
        this.#cancel = undefined;
        if (socket === this.#getSocket() && socket.bytesRead === bytesRead) this.#onSilence(socket);
      });
    });
    this.#cancel = alarm.cancel;
  }

  stop(): void {
    this.#cancel?.();
    this.#cancel = undefined;
  }
}
