import type { Store, Time } from '@sluice/core';
import { storeGuard, type StoreOperation, type StoreReading } from '@sluice/core/store';
import { postgresStore, type PostgresStore } from '@sluice/postgres';
import type { SteeredDatabase } from './steered-database.ts';

/** From 1 July 2026. */
const START_MS = Date.UTC(2026, 6, 1);
const TABLE = 'steered_buckets';

/** The store on a database whose clock is that of a test, one call after the other. It has no buckets at first. */
export class SteeredPostgres implements Store {
  readonly guard: object = storeGuard;
  readonly traits = { periods: true, slots: true } as const;
  readonly #database: SteeredDatabase;
  readonly #time: Time;
  readonly #store: PostgresStore;
  #emptied: Promise<void> | undefined;

  /**
   * @param time - Its clock is that of the database, from 1 July 2026 on.
   * @param ofProcess - By which the store waits. Its clock must not go back.
   */
  constructor(database: SteeredDatabase, time: Time, ofProcess = time) {
    this.#database = database;
    this.#time = time;
    this.#store = postgresStore({ pool: database.pool, table: TABLE, time: ofProcess });
  }

  async run(operation: StoreOperation): Promise<StoreReading> {
    await (this.#emptied ??= this.#empty());
    await this.#database.set(START_MS + this.#time.nowMicros() / 1000);
    return this.#store.run(operation);
  }

  close(): Promise<void> {
    return this.#store.close();
  }

  async #empty(): Promise<void> {
    await this.#store.migrate();
    await this.#database.empty(TABLE);
  }
}
