import type { Time } from '@sluice/core';
import type { Cancel } from '@sluice/core/store';
import type { Counts } from '../client/script-servers.ts';
import { errorPrefix } from '../client/server-errors.ts';
import type { Connection, ConnectionSocket } from './connection.ts';
import { ConnectWatch, SilenceWatch, type ConnectTimeout } from './watches.ts';

const FIRST_PAUSE_MS = 100;
const MAX_PAUSE_MS = 2000;

export interface SupervisedConnectionParts {
  readonly connection: Connection;
  readonly connectTimeout: ConnectTimeout;
  readonly time: Time;
  readonly counts: Counts;
  /** Prepares the server after each connect. Rejects if the server can't be used. */
  readonly prepare: () => Promise<void>;
  /** Called when the connection has closed. */
  readonly onClose: () => void;
  /** Called when the connection opens, closes or fails. */
  readonly onChange: () => void;
}

/**
 * Supervises one connection. It is open once the connection is ready and `prepare` has succeeded. A stuck connection
 * is cut; the connection, or the cluster that it belongs to, then makes a new one.
 */
export class SupervisedConnection {
  readonly #connection: Connection;
  readonly #parts: SupervisedConnectionParts;
  readonly #connectWatch: ConnectWatch;
  readonly #silenceWatch: SilenceWatch;
  readonly #stopListening: () => void;
  #isOpen = false;
  /** Whether the current connection, or the one that was lost last, has been open. */
  #wasOpen = false;
  #wasTried = false;
  #lastError: unknown;
  #pauseMs = FIRST_PAUSE_MS;
  #cancelPause: Cancel | undefined;

  constructor(parts: SupervisedConnectionParts) {
    const { connection, time } = parts;
    this.#connection = connection;
    this.#parts = parts;
    const getSocket = (): ConnectionSocket | undefined => connection.socket;
    this.#connectWatch = new ConnectWatch(getSocket, time, (socket) => {
      this.#replaceStuck(socket, 'sent nothing while a connection to it was made');
    });
    this.#silenceWatch = new SilenceWatch(getSocket, time, (socket) => {
      this.#replaceStuck(socket, 'sent nothing for 100 ms after a missed deadline');
    });
    this.#stopListening = connection.listen({
      connecting: () => this.#handleConnecting(),
      ready: () => void this.#prepare(),
      closed: () => this.#handleClose(),
      failed: (error) => this.#handleError(error),
    });
    if (connection.status === 'ready') void this.#prepare();
    else if (connection.status !== 'wait') this.#handleConnecting();
  }

  /** Whether commands can be sent now. */
  get isOpen(): boolean {
    return this.#isOpen && this.#connection.status === 'ready';
  }

  /** Whether the first attempt to connect has succeeded or failed. */
  get wasTried(): boolean {
    return this.#wasTried;
  }

  /** The last error of the connection. */
  get lastError(): unknown {
    return this.#lastError;
  }

  /** Records an error. */
  noteError(error: unknown): void {
    this.#lastError = this.#connection.readError(error);
    this.#noteChange();
  }

  /** Notes that an answer is overdue. */
  noteMiss(): void {
    this.#silenceWatch.start();
  }

  /** Destroys the socket, so that a new connection is made. */
  cut(reason: unknown): void {
    this.#isOpen = false;
    this.noteError(reason);
    this.#connection.socket?.destroy();
  }

  /** Removes listeners and timers. The owner of the connection closes the connection itself. */
  close(): void {
    this.#stopListening();
    this.#isOpen = false;
    this.#stopTimers();
  }

  #handleConnecting(): void {
    const { connectTimeout } = this.#parts;
    connectTimeout.next();
    this.#connectWatch.start(connectTimeout.ms);
  }

  async #prepare(): Promise<void> {
    const { socket } = this.#connection;
    const isStill = (): boolean => socket === this.#connection.socket && this.#connection.status === 'ready';
    this.#connectWatch.start(this.#parts.connectTimeout.ms);
    try {
      await this.#parts.prepare();
      if (isStill()) this.#open();
    } catch (error) {
      if (isStill()) this.#prepareLater(this.#connection.readError(error));
    }
  }

  // The server answers, but can't be used: for example a permission is missing, or it is a replica without its primary.
  #prepareLater(error: unknown): void {
    this.#connectWatch.stop();
    this.#parts.connectTimeout.noteFailure();
    this.#cancelPause = this.#parts.time.alarm(this.#pauseMs, () => void this.#prepare()).cancel;
    // Loading ends by itself, and decisions begin as soon as it has.
    if (errorPrefix(error) !== 'LOADING') this.#pauseMs = Math.min(2 * this.#pauseMs, MAX_PAUSE_MS);
    this.noteError(error);
  }

  // Errors after the close are consequences, and explain less than the error that caused it.
  #handleError(error: unknown): void {
    const { status } = this.#connection;
    // With Sentinels, an attempt that reaches none of them only emits errors, and continues.
    if (status === 'connecting') this.#parts.connectTimeout.noteFailure();
    if (status === 'connecting' || status === 'connect' || status === 'ready') this.noteError(error);
  }

  #open(): void {
    this.#connectWatch.stop();
    this.#parts.connectTimeout.reset();
    this.#parts.counts.connects++;
    this.#pauseMs = FIRST_PAUSE_MS;
    this.#isOpen = this.#wasOpen = true;
    this.#noteChange();
  }

  #handleClose(): void {
    if (!this.#wasOpen) this.#parts.connectTimeout.noteFailure();
    this.#isOpen = this.#wasOpen = false;
    this.#stopTimers();
    this.#parts.onClose();
    this.#noteChange();
  }

  #noteChange(): void {
    this.#wasTried = true;
    this.#parts.onChange();
  }

  #replaceStuck(socket: ConnectionSocket, what: string): void {
    if (socket.destroyed) return;
    this.#parts.counts.resets++;
    this.cut(new Error(`Redis at ${this.#connection.address} ${what}.`));
  }

  #stopTimers(): void {
    this.#connectWatch.stop();
    this.#silenceWatch.stop();
    this.#cancelPause?.();
  }
}
