import type { Time } from '@sluice/core';

/**
 * - `connecting`: PostgreSQL has not been asked yet, or has not answered yet.
 * - `up`: the last call was answered.
 * - `down`: the last call failed.
 * - `closed`: the store was closed.
 */
export type PostgresState = 'connecting' | 'up' | 'down' | 'closed';

/** The last error of a store, and when it occurred by the wall clock of this process. */
export interface PostgresError {
  readonly cause: unknown;
  readonly at: Date;
}

/** The state of a store. */
export class StoreState {
  readonly #time: Time;
  #current: PostgresState = 'connecting';
  #since: Date;
  #lastError: PostgresError | undefined;

  constructor(time: Time) {
    this.#time = time;
    this.#since = this.#now();
  }

  get current(): PostgresState {
    return this.#current;
  }

  /** When the state began, by the wall clock of this process. */
  get since(): Date {
    return this.#since;
  }

  get lastError(): PostgresError | undefined {
    return this.#lastError;
  }

  /** A store that is closed stays so. */
  set(state: PostgresState): void {
    if (state === this.#current || this.#current === 'closed') return;
    this.#current = state;
    this.#since = this.#now();
  }

  fail(cause: unknown): void {
    this.#lastError = { cause, at: this.#now() };
    this.set('down');
  }

  #now(): Date {
    return new Date(this.#time.wallNow());
  }
}
