import { SluiceError, type Time } from '@sluice/core';
import { CONNECT_MS, type PoolSource, type PostgresClient } from './pool.ts';
import { keepsConnection } from './server-errors.ts';

/** A statement and its parameters. Without parameters, it may be several statements, which are one transaction. */
export interface Statement {
  readonly text: string;
  readonly values?: unknown[];
}

/** More connections than this are not waited for at a time after they were given up. */
const MAX_ABANDONED = 2;

/**
 * Executes statements on clients of a pool, one at a time. A client is borrowed for each statement, so that the pool can be
 * shared with other users, and one that is lost is never used again.
 */
export class Session {
  readonly #source: PoolSource;
  readonly #time: Time;
  /** Ends the statement that is being executed. */
  #abandon: ((error: unknown) => void) | undefined;
  /** Connections that were given up, and that the pool has not made yet. */
  #abandoned = 0;
  #resets = 0;

  constructor(source: PoolSource, time: Time) {
    this.#source = source;
    this.#time = time;
  }

  /** Returns a session with the same pool, whose statements do not wait for those of this one. */
  another(): Session {
    return new Session(this.#source, this.#time);
  }

  /** Whether a statement was sent and not answered. */
  get isExecuting(): boolean {
    return this.#abandon !== undefined;
  }

  /** How many connections were closed because the server did not answer on them. */
  get resets(): number {
    return this.#resets;
  }

  /** Returns the rows of a statement as arrays. Rejects with what pg throws, or with what `abandon` was given. */
  async execute({ text, values }: Statement): Promise<readonly unknown[]> {
    const client = await this.#acquire();
    return new Promise((resolve, reject) => {
      let isOver = false;
      const end = (keep: boolean): void => {
        isOver = true;
        this.#abandon = undefined;
        releaseClient(client, keep);
      };
      this.#abandon = (error) => {
        this.#resets++;
        end(false);
        reject(error);
      };
      // In a function of its own, because what observes pg may throw where pg returns a promise that rejects.
      const query = async () => client.query({ text, rowMode: 'array', ...(values && { values }) });
      query().then(
        (result) => {
          if (isOver) return;
          end(true);
          resolve(result.rows ?? []);
        },
        (error: unknown) => {
          if (isOver) return;
          end(keepsConnection(error));
          reject(error);
        },
      );
    });
  }

  /** Ends the statement that is being executed, if there is one, and closes its connection. The server may execute it. */
  abandon(error: unknown): void {
    this.#abandon?.(error);
  }

  async close(): Promise<void> {
    await this.#source.close();
  }

  async #acquire(): Promise<PostgresClient> {
    if (this.#abandoned >= MAX_ABANDONED) throw noConnectionError();
    const pool = await this.#source.open();
    const client = await this.#withTimeout(pool.connect());
    if (typeof (client as Partial<PostgresClient> | undefined)?.release !== 'function') throw noClientError();
    client.on('error', ignore);
    return client;
  }

  /** A pool with its default settings waits for ever for a connection. */
  #withTimeout(connecting: Promise<PostgresClient>): Promise<PostgresClient> {
    return new Promise((resolve, reject) => {
      let isAbandoned = false;
      const alarm = this.#time.alarm(CONNECT_MS, () => {
        isAbandoned = true;
        this.#abandoned++;
        reject(noConnectionError());
      });
      connecting.then(
        (client) => {
          alarm.cancel();
          if (!isAbandoned) return resolve(client);
          this.#abandoned--;
          client.release();
        },
        (error: unknown) => {
          alarm.cancel();
          if (isAbandoned) this.#abandoned--;
          else reject(error);
        },
      );
    });
  }
}

// The error of a connection reaches the statement that is executed on it. Without a listener, it would end the process.
function ignore(): void {}

function releaseClient(client: PostgresClient, keep: boolean): void {
  // A client that is closed may still emit errors.
  if (keep) client.removeListener('error', ignore);
  client.release(!keep);
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
