import { SluiceError, type ReadyOptions, type Store } from '@sluice/core';
import {
  afterInput,
  CallDeadlines,
  CallQueue,
  checkBoolean,
  checkDeadline,
  checkOptions,
  checkReadyOptions,
  RUN_INTO,
  type AnswerSink,
  type RunInto,
} from '@sluice/core/kit';
import {
  otherNumbers,
  storeBlocks,
  storeGuard,
  type StoreBlocks,
  type StoreBucket,
  type StoreOperation,
  type StoreReading,
} from '@sluice/core/store';
import { blocksText } from './calls/blocks-text.ts';
import { keyOf } from './calls/bucket-keys.ts';
import { readHolders } from './calls/holders-look.ts';
import { Outcomes } from './calls/outcomes.ts';
import { MAX_BUCKETS, piecesOf } from './calls/pieces.ts';
import { StoreCall, type MakeError } from './calls/store-call.ts';
import { Executor, type ExecutorParts, type PostgresStoreCounts } from './executor.ts';
import type { Names } from './schema/table-name.ts';
import { notReadyError } from './server/server-errors.ts';
import type { Session } from './server/session.ts';
import type { PostgresError, PostgresState } from './store-state.ts';

export type { PostgresStoreCounts } from './executor.ts';

/** The options of `migrate`. */
export interface MigrateOptions {
  /**
   * Whether the functions of earlier versions of this package are dropped. Do it when no process of them runs any more: until then
   * they use them, and would create them again. Default: false.
   */
  readonly dropOld?: boolean | undefined;
}

/** The state of a PostgreSQL store. */
export interface PostgresStoreStatus {
  readonly state: PostgresState;
  /** When the state began, by the wall clock of this process. */
  readonly since: Date;
  /** The last error of a call; it stays after a recovery. `undefined` if there was none. */
  readonly lastError: PostgresError | undefined;
  /** What was counted since the store was created. */
  readonly counts: PostgresStoreCounts;
}

/**
 * A store in PostgreSQL, made by `postgresStore`. The limiter calls `run`.
 *
 * `deadlineMs` is how long the caller waits, in milliseconds: a number above 0, at most 60,000. Default: 1000. It begins when
 * there is a connection: a call waits for a new one for at most two seconds, unless one could not be made before. PostgreSQL
 * does not execute an operation whose deadline has passed. `run` rejects with a `SluiceError`:
 *
 * - `ERR_STORE_DEADLINE` if there was no answer in time, or another transaction held a lock for too long;
 * - `ERR_STORE_OVERLOAD` if there was none in time because this process has made too many calls at once;
 * - `ERR_STORE_UNAVAILABLE` if the server can't be reached or has failed;
 * - `ERR_STORE_SCHEMA` if its tables or functions are missing or of another version;
 * - `ERR_STORE_BUCKET` if the row of a bucket contains something else;
 * - `ERR_STORE_PERIOD` if the server's clock is outside of the calendar periods of a bucket;
 * - `ERR_STORE_ANSWER` if the answer is malformed;
 * - `ERR_OPTION` or `ERR_ID` if a deadline or an id is wrong;
 * - `ERR_CLOSED` after `close()`.
 */
export interface PostgresStore extends Store {
  /**
   * Every call settles within its deadline, or soon after there is a connection, so a limiter sets no timer of its own.
   * Buckets may have calendar periods, or slots.
   */
  readonly traits: { readonly keepsDeadline: true; readonly periods: true; readonly slots: true };
  /**
   * Executes an operation in one statement, and atomically. Operations that arrive in one turn of the event loop, or while a
   * statement is executed, travel together. More than 64 buckets of a `renew`, a `release` or a `reset` are sent in several
   * statements, and those that succeed take effect even if others fail.
   */
  run(operation: StoreOperation, deadlineMs?: number): Promise<StoreReading>;
  /** Reads the holders of slots, in one statement. */
  holders(buckets: readonly StoreBucket[], deadlineMs?: number): Promise<readonly (readonly string[])[]>;
  /**
   * Resolves when PostgreSQL has answered and its tables are as they must be; they are created if the store may.
   *
   * @throws {SluiceError} Rejects with `ERR_STORE_SCHEMA` if they are not; with `ERR_STORE_UNAVAILABLE` and the cause if
   * PostgreSQL has not answered within `timeoutMs` (default: 10,000), or at once if pg can't be loaded; with `ERR_CLOSED` if the store is closed, and with
   * `ERR_OPTION` or `ERR_UNKNOWN_OPTION` for wrong options.
   */
  ready(options?: ReadyOptions): Promise<void>;
  /**
   * Creates the tables and functions, or those that are missing, also with `migrate: false`. For a step of a deployment.
   *
   * @throws {SluiceError} Rejects with `ERR_STORE_SCHEMA` if the table or a function is not one of this package, or the table of a later version, with
   * `ERR_STORE_UNAVAILABLE` if PostgreSQL can't be asked, does not permit it or has not done it within 30 seconds, with
   * `ERR_STORE_DEADLINE` if another transaction has held a lock for so long, and with `ERR_CLOSED` after `close`.
   */
  migrate(options?: MigrateOptions): Promise<void>;
  /**
   * Waits for the calls that were made, at most until their deadlines. A pool that the store has made itself is closed, for
   * which it waits at most a second; yours stays open. A second call has no effect.
   */
  close(): Promise<void>;
  /** Returns the current state. */
  status(): PostgresStoreStatus;
}

/** The deadline of calls without one. Limiters always pass theirs. */
const DEFAULT_DEADLINE_MS = 1000;

/** The parts of a {@link TableStore}. */
export type TableStoreParts = Omit<ExecutorParts, 'queue'>;

/** The PostgreSQL store. */
export class TableStore implements PostgresStore {
  readonly name = 'postgres';
  readonly traits = { keepsDeadline: true, periods: true, slots: true } as const;
  readonly guard: object = storeGuard;
  readonly otherNumbers: typeof otherNumbers = otherNumbers;
  readonly blocks: StoreBlocks;
  readonly #names: Names;
  readonly #deadlines: CallDeadlines;
  readonly #queue = new CallQueue<StoreCall>();
  readonly #outcomes = new Outcomes();
  readonly #executor: Executor;
  /** Calls that have not ended. */
  #waiting = 0;
  #isFlushing = false;
  #isClosed = false;
  #closing: Promise<void> | undefined;
  #onIdle = (): void => {};

  constructor(parts: TableStoreParts) {
    this.#deadlines = new CallDeadlines(parts.time);
    this.#executor = new Executor({ ...parts, queue: this.#queue });
    this.#names = parts.names;
    this.blocks = storeBlocks(blocksText({ ...parts, aside: (work) => this.#aside(work) }), parts.time);
  }

  run(operation: StoreOperation, deadlineMs: number = DEFAULT_DEADLINE_MS): Promise<StoreReading> {
    return new Promise((answered, failed) => this.#runInto(operation, deadlineMs, { answered, failed }));
  }

  static {
    (this.prototype.run as { [RUN_INTO]?: RunInto })[RUN_INTO] = (store, operation, deadlineMs, sink) => {
      (store as TableStore).#runInto(operation, deadlineMs, sink);
    };
  }

  async holders(
    buckets: readonly StoreBucket[],
    deadlineMs: number = DEFAULT_DEADLINE_MS,
  ): Promise<readonly (readonly string[])[]> {
    this.#assertOpen();
    checkDeadline(deadlineMs);
    const look = { keys: buckets.map(keyOf), deadlineMs };
    return this.#aside((session) => readHolders(session, this.#names, look));
  }

  async ready(options?: ReadyOptions): Promise<void> {
    const { timeoutMs } = checkReadyOptions(options);
    this.#assertOpen();
    let stop = (): void => undefined;
    const ready = new Promise<void>((resolve, reject) => {
      stop = this.#executor.ready({ resolve, reject });
    });
    await this.#deadlines.of(timeoutMs).race(ready, () => {
      stop();
      return this.#isClosed ? closedError() : notReadyError(timeoutMs, this.#executor.state.lastError?.cause);
    });
  }

  async migrate(options: MigrateOptions = {}): Promise<void> {
    checkOptions('migrate', options, ['dropOld']);
    const { dropOld = false } = options;
    checkBoolean('dropOld', dropOld);
    this.#assertOpen();
    await this.#executor.migrate(dropOld);
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  status(): PostgresStoreStatus {
    const { state, counts } = this.#executor;
    return { state: state.current, since: state.since, lastError: state.lastError, counts };
  }

  async #aside<T>(work: (session: Session) => Promise<T>): Promise<T> {
    this.#assertOpen();
    return this.#executor.aside(work);
  }

  #runInto(operation: StoreOperation, deadlineMs: number, sink: AnswerSink): void {
    try {
      this.#assertOpen();
      checkDeadline(deadlineMs);
      const pieces = piecesOf(operation);
      if (pieces.length === 1) return this.#send(pieces[0]!, deadlineMs, sink);
      Promise.all(pieces.map((piece) => this.run(piece, deadlineMs))).then(
        ([reading]) => sink.answered(reading!),
        (error: unknown) => sink.failed(error),
      );
    } catch (error) {
      sink.failed(error);
    }
  }

  #send(operation: StoreOperation, deadlineMs: number, sink: AnswerSink): void {
    const deadlines = this.#deadlines.of(deadlineMs);
    this.#waiting++;
    try {
      this.#queue.add(
        new StoreCall({
          operation,
          deadlineMs,
          deadlines,
          sink,
          outcomes: this.#outcomes,
          mayWait: this.#mayWait,
          onMiss: this.#missed,
          onEnd: this.#ended,
        }),
      );
    } catch (error) {
      this.#ended();
      throw error;
    }
    // A full statement is sent without waiting for the end of the turn.
    if (this.#queue.size >= MAX_BUCKETS) this.#executor.wake();
    if (this.#isFlushing) return;
    this.#isFlushing = true;
    // Directly after Node has read its sockets and run their callbacks: requests that arrive together are
    // sent together. It is not `time.endOfTurn`: calls reach PostgreSQL even while the time of a test does not move.
    afterInput(this.#flush);
  }

  readonly #flush = (): void => {
    this.#isFlushing = false;
    this.#executor.wake();
  };

  readonly #mayWait = (call: StoreCall): boolean => !this.#isClosed && this.#executor.mayWait(call);

  readonly #missed = (call: StoreCall): MakeError => this.#executor.noteMiss(call);

  readonly #ended = (): void => {
    this.#waiting--;
    if (this.#waiting === 0) this.#onIdle();
  };

  async #close(): Promise<void> {
    this.#isClosed = true;
    this.#flush();
    if (this.#waiting > 0) await new Promise<void>((resolve) => (this.#onIdle = resolve));
    // Calls that wait for `ready`.
    this.#deadlines.expireAll();
    await this.#executor.close();
  }

  #assertOpen(): void {
    if (this.#isClosed) throw closedError();
  }
}

function closedError(): SluiceError {
  return new SluiceError('ERR_CLOSED', 'This PostgreSQL store was closed. Make a new one with postgresStore().');
}
