import { SluiceError, type Time } from '@sluice/core';
import { CallDeadlines } from '@sluice/core/kit';
import { connectWithin, giveBack, openMsOf, type PoolSource, type PostgresClient, type PostgresPool } from './pool.ts';

/** A connection that is not made within this time is not waited for any more, in milliseconds. */
export const CONNECT_MS = 2000;

/** More connections than this are not waited for at a time after they were given up. */
const MAX_ABANDONED = 2;

/** A client of the pool, and whether its connection was made for it. */
export interface Connected {
  readonly client: PostgresClient;
  readonly isNew: boolean;
}

/** Borrows clients of a pool, in bounded time, and never makes so many connections that it would use up the pool. */
export class Connector {
  readonly #source: PoolSource;
  readonly #time: Time;
  readonly #deadlines: CallDeadlines;
  /** Connections that were given up, and that the pool has neither made nor given up itself. */
  readonly #abandoned = new Set<Promise<PostgresClient>>();
  #isOpening = false;
  #endedBy: SluiceError | undefined;

  constructor(source: PoolSource, time: Time) {
    this.#source = source;
    this.#time = time;
    this.#deadlines = new CallDeadlines(time);
  }

  /** Whether the pool is making a connection for a caller of {@link connect}. */
  get isOpening(): boolean {
    return this.#isOpening;
  }

  /** @throws {SluiceError} `ERR_STORE_UNAVAILABLE` if there is no client in time; the error of pg if there can be none. */
  async connect(): Promise<Connected> {
    // The first time, a pool of the store itself is being loaded.
    this.#isOpening = true;
    try {
      const pool = await this.#source.open();
      if (this.#endedBy !== undefined) throw this.#endedBy;
      if (this.#abandoned.size >= MAX_ABANDONED) throw noConnectionError();
      const before = pool.totalCount;
      const connecting = connectWithin(pool);
      const isNew = (this.#isOpening = pool.totalCount > before);
      const client = await this.#inTime(pool, connecting);
      if (typeof (client as Partial<PostgresClient> | undefined)?.release !== 'function') throw noClientError();
      return { client, isNew };
    } finally {
      this.#isOpening = false;
    }
  }

  /** Ends the wait for a connection, and every later one. */
  end(error: SluiceError): void {
    this.#endedBy = error;
    this.#deadlines.expireAll();
  }

  /** A pool with its default settings waits forever for a connection. */
  #inTime(pool: PostgresPool, connecting: Promise<PostgresClient>): Promise<PostgresClient> {
    return this.#deadlines.of(CONNECT_MS).race(connecting, () => {
      this.#abandon(pool, connecting);
      return this.#endedBy ?? noConnectionError();
    });
  }

  #abandon(pool: PostgresPool, connecting: Promise<PostgresClient>): void {
    this.#abandoned.add(connecting);
    // A pool that knows no limit of its own may never settle it.
    const alarm = this.#time.alarm(openMsOf(pool), () => this.#abandoned.delete(connecting));
    alarm.unref();
    const forget = (): void => {
      alarm.cancel();
      this.#abandoned.delete(connecting);
    };
    connecting.then((client) => {
      forget();
      // It serves the next statement.
      giveBack(client);
    }, forget);
  }
}

function noConnectionError(): SluiceError {
  return new SluiceError(
    'ERR_STORE_UNAVAILABLE',
    `The pool has made no connection to PostgreSQL within ${CONNECT_MS} ms. Check that the server runs, and that other users ` +
      'of the pool give their clients back, or give the store a pool of its own.',
  );
}

function noClientError(): SluiceError {
  return new SluiceError('ERR_OPTION', '`pool` did not lend a client. It must be a `Pool` of pg 8.');
}
