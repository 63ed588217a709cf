// The room server: clients of the pool, and the errors of the server.
import { SluiceError, type Time } from '@sluice/core';
import { CallDeadlines } from '@sluice/core/kit';
import { Connector } from './connector.ts';
import { giveBack, type PoolSource, type PostgresClient } from './pool.ts';
import { keepsConnection } from './server-errors.ts';

/** A statement and its parameters. Without parameters, it may be several statements, which are one transaction. */
export interface Statement {
  readonly text: string;
  readonly values?: unknown[];
}

/**
 * Executes statements on clients of a pool, one at a time. A client is borrowed for each statement, so that the pool can be
 * shared with other users, and one that is lost is never used again.
 */
export class Session {
  readonly #source: PoolSource;
  readonly #time: Time;
  readonly #connector: Connector;
  readonly #limits: CallDeadlines;
  /** The client of the next statement, if it was borrowed before it. */
  #client: PostgresClient | undefined;
  /** Ends the statement that is being executed. */
  #abandon: ((error: unknown) => void) | undefined;
  #closedBy: SluiceError | undefined;
  #resets = 0;

  constructor(source: PoolSource, time: Time) {
    this.#source = source;
    this.#time = time;
    this.#connector = new Connector(source, time);
    this.#limits = new CallDeadlines(time);
  }

  /** Returns a session with the same pool, whose statements do not wait for those of this one. */
  another(): Session {
    return new Session(this.#source, this.#time);
  }

  /** Whether a statement was sent and not answered. */
  get isExecuting(): boolean {
    return this.#abandon !== undefined;
  }

  /** Whether a connection is being made, and not one awaited that others use. */
  get isOpening(): boolean {
    return this.#connector.isOpening;
  }

  /** How many connections were closed because the server did not answer on them. */
  get resets(): number {
    return this.#resets;
  }

  /**
   * Borrows the client of the next statement.
   *
   * @returns Whether its connection was made for it.
   * @throws {SluiceError} `ERR_STORE_UNAVAILABLE` if there is none in time.
   */
  async connect(): Promise<boolean> {
    if (this.#client !== undefined) return false;
    const { client, isNew } = await this.#connector.connect();
    client.on('error', ignore);
    if (this.#closedBy !== undefined) {
      releaseClient(client, true);
      throw this.#closedBy;
    }
    this.#client = client;
    return isNew;
  }

  /** Gives a client back that was borrowed and has executed nothing. */
  disconnect(): void {
    if (this.#client !== undefined) releaseClient(this.#client, true);
    this.#client = undefined;
  }

  /**
   * Returns the rows of a statement as arrays. Rejects with what pg throws, with what `abandon` was given, or after
   * `limitMs` with `ERR_STORE_UNAVAILABLE`.
   */
  async execute({ text, values }: Statement, limitMs: number): Promise<readonly unknown[]> {
    // If there is a client, the statement is sent before this method returns.
    if (this.#client === undefined) await this.connect();
    const client = this.#client!;
    this.#client = undefined;
    const answered = new Promise<readonly unknown[]>((resolve, reject) => {
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
    return this.#limits.of(limitMs).race(answered, () => {
      const error = noAnswerError();
      this.abandon(error);
      return error;
    });
  }

  /** Ends the statement that is being executed, if there is one, and closes its connection. The server may execute it. */
  abandon(error: unknown): void {
    this.#abandon?.(error);
  }

  /** Ends what is being executed or awaited with an error, and every later statement. */
  end(error: SluiceError): void {
    this.#closedBy = error;
    this.abandon(error);
    this.#connector.end(error);
  }

  /** Closes the pool if it is the store's own. */
  async close(): Promise<void> {
    await this.#source.close();
  }
}

/** The error of a statement whose connection was closed, because no answer has come on it. */
export function noAnswerError(): SluiceError {
  return new SluiceError('ERR_STORE_UNAVAILABLE', 'PostgreSQL did not answer, so its connection was closed.');
}

// The error of a connection reaches the statement that is executed on it. Without a listener, it would end the process.
function ignore(): void {}

function releaseClient(client: PostgresClient, keep: boolean): void {
  // A client that is closed may still emit errors.
  if (keep) client.removeListener('error', ignore);
  giveBack(client, !keep);
}
