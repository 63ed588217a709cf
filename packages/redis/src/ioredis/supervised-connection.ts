import type { Cancel, Scheduler } from '@sluice/core/kit';
import type { Socket } from 'node:net';
import { addressOf, type Connection } from './connection.ts';
import { ConnectWatch } from './connect-watch.ts';
import type { Counts } from '../client/counts.ts';
import type { Patience } from './connect-timeout.ts';
import { withoutCommand } from '../client/server-errors.ts';
import { SilenceWatch } from './silence-watch.ts';

const FIRST_PAUSE_MS = 100;
const MAX_PAUSE_MS = 2000;

export interface LinkParts {
  readonly connection: Connection;
  readonly patience: Patience;
  readonly scheduler: Scheduler;
  readonly counts: Counts;
  /** Prepares the server after each connect. Rejects if the server can't be used. */
  readonly greet: () => Promise<void>;
  /** Called when the connection has closed. */
  readonly onClose: () => void;
  /** Called when the link opens, closes or fails. */
  readonly onChange: () => void;
}

/**
 * Supervises one connection. A link is open once the connection is ready and `greet` has succeeded. A stuck connection
 * is cut; ioredis, or the cluster that the connection belongs to, then makes a new one.
 */
export class Link {
  readonly #connection: Connection;
  readonly #parts: LinkParts;
  readonly #connectWatch: ConnectWatch;
  readonly #silenceWatch: SilenceWatch;
  readonly #listeners: Readonly<Record<string, (error?: unknown) => void>>;
  #isOpen = false;
  #wasTried = false;
  #lastError: unknown;
  #pauseMs = FIRST_PAUSE_MS;
  #cancelPause: Cancel | undefined;

  constructor(parts: LinkParts) {
    const { connection, scheduler } = parts;
    this.#connection = connection;
    this.#parts = parts;
    this.#connectWatch = new ConnectWatch(connection, scheduler, (stream) => {
      this.#stuck(stream, 'said nothing while a connection to it was made');
    });
    this.#silenceWatch = new SilenceWatch(connection, scheduler, (stream) => {
      this.#stuck(stream, 'said nothing for 100 ms after a missed deadline');
    });
    this.#listeners = {
      connecting: () => this.#connecting(),
      ready: () => void this.#greet(),
      close: () => this.#closed(),
      error: (error) => this.#heard(error),
    };
    for (const [event, listener] of Object.entries(this.#listeners)) connection.on(event, listener);
    if (connection.status === 'ready') void this.#greet();
    else if (connection.status !== 'wait') this.#connecting();
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
  failed(error: unknown): void {
    this.#lastError = withoutCommand(error);
    this.#changed();
  }

  /** Notes that an answer is overdue. */
  missed(): void {
    this.#silenceWatch.missed();
  }

  /** Destroys the socket, so that a new connection is made. */
  cut(reason: unknown): void {
    this.#isOpen = false;
    this.failed(reason);
    this.#connection.stream?.destroy();
  }

  /** Removes listeners and timers. The owner of the connection closes the connection itself. */
  close(): void {
    for (const [event, listener] of Object.entries(this.#listeners)) this.#connection.off(event, listener);
    // An `error` event without a listener would end the process, and closing may still emit one.
    this.#connection.on('error', () => {});
    this.#isOpen = false;
    this.#stopTimers();
  }

  #connecting(): void {
    const { patience } = this.#parts;
    patience.next();
    this.#connectWatch.start(patience.ms);
  }

  async #greet(): Promise<void> {
    const { stream } = this.#connection;
    const isStill = (): boolean => stream === this.#connection.stream && this.#connection.status === 'ready';
    this.#connectWatch.start(this.#parts.patience.ms);
    try {
      await this.#parts.greet();
      if (isStill()) this.#opened();
    } catch (error) {
      if (isStill()) this.#greetLater(error);
    }
  }

  // The server answers, but can't be used: for example a permission is missing, or it is a replica without its primary.
  #greetLater(error: unknown): void {
    this.#connectWatch.stop();
    this.#cancelPause = this.#parts.scheduler.after(this.#pauseMs, () => void this.#greet());
    this.#pauseMs = Math.min(2 * this.#pauseMs, MAX_PAUSE_MS);
    this.failed(error);
  }

  // Errors after the close are consequences, and explain less than the error that caused it.
  #heard(error: unknown): void {
    const { status } = this.#connection;
    if (status === 'connecting' || status === 'connect' || status === 'ready') this.failed(error);
  }

  #opened(): void {
    this.#connectWatch.stop();
    this.#parts.patience.reset();
    this.#parts.counts.connects++;
    this.#pauseMs = FIRST_PAUSE_MS;
    this.#isOpen = true;
    this.#changed();
  }

  #closed(): void {
    this.#isOpen = false;
    this.#stopTimers();
    this.#parts.onClose();
    this.#changed();
  }

  #changed(): void {
    this.#wasTried = true;
    this.#parts.onChange();
  }

  #stuck(stream: Socket, what: string): void {
    if (stream.destroyed) return;
    this.#parts.counts.resets++;
    this.cut(new Error(`Redis at ${addressOf(this.#connection)} ${what}.`));
  }

  #stopTimers(): void {
    this.#connectWatch.stop();
    this.#silenceWatch.stop();
    this.#cancelPause?.();
  }
}
