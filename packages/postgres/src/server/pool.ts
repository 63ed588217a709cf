import { SluiceError } from '@sluice/core';
import { complaint, reasonOf } from '@sluice/core/kit';

/** The part of a `Pool` of pg 8 that the store uses. */
export interface PostgresPool {
  /** Waits for a client of the pool, and lends it. */
  connect(): Promise<PostgresClient>;
  /** How many clients the pool has. The store only looks whether it is there, to recognise a pool. */
  readonly totalCount: number;
}

/** The part of a client of a {@link PostgresPool} that the store uses. */
export interface PostgresClient {
  /** Executes a statement. The store takes rows as arrays. */
  query(query: {
    readonly text: string;
    readonly values?: unknown[];
    readonly rowMode?: 'array';
  }): Promise<{ readonly rows: unknown[] }>;
  /** Gives the client back to its pool; with `true`, the pool closes its connection. */
  release(destroy?: boolean): void;
  /** Adds a listener: a connection that ends while it is lent is an event, which would end the process without one. */
  on(event: 'error', listener: (error: Error) => void): unknown;
  /** Removes a listener. */
  removeListener(event: 'error', listener: (error: Error) => void): unknown;
}

/** A pool, and how it ends. */
export interface PoolSource {
  /** Rejects with a SluiceError if there is none. */
  open(): Promise<PostgresPool>;
  /** Closes the pool if it is the store's own. */
  close(): Promise<void>;
}

/** A pool of the caller, which stays open. */
export function givenPool(pool: PostgresPool): PoolSource {
  return { open: () => Promise.resolve(pool), close: () => Promise.resolve() };
}

/** A connection that is not made within this time is given up, in milliseconds. */
export const CONNECT_MS = 2000;

/** A pool of the store itself, with a connection for decisions and one to replace it. It is made at the first use. */
export class OwnPool implements PoolSource {
  readonly #connectionString: string;
  #pool: Promise<PostgresPool & { end(): Promise<void> }> | undefined;

  constructor(connectionString: string) {
    this.#connectionString = connectionString;
  }

  open(): Promise<PostgresPool> {
    this.#pool ??= createPool(this.#connectionString);
    return this.#pool;
  }

  async close(): Promise<void> {
    // One that could not be made needs no end.
    const pool = await this.#pool?.catch(() => undefined);
    await pool?.end();
  }
}

async function createPool(connectionString: string) {
  const { Pool } = await importPg();
  const pool = new Pool({
    connectionString,
    max: 2,
    connectionTimeoutMillis: CONNECT_MS,
    // A new connection has to plan all statements again.
    idleTimeoutMillis: 0,
    allowExitOnIdle: true,
    keepAlive: true,
    application_name: 'sluice',
  });
  // The pool replaces a connection that was lost while nobody used it.
  pool.on('error', () => {});
  return pool;
}

async function importPg() {
  try {
    const module = await import('pg');
    // Bundlers and Node differ in what they make of a CommonJS module.
    return (module as { readonly default?: Pick<typeof module, 'Pool'> }).default ?? module;
  } catch (cause) {
    throw new SluiceError(
      'ERR_STORE_UNAVAILABLE',
      `The PostgreSQL store needs the package pg, which can't be loaded (${reasonOf(cause)}). Install it: npm install pg.`,
      { cause },
    );
  }
}

/** @throws {SluiceError} `ERR_OPTION` if a value is not a pool. */
export function checkPool(pool: unknown): PostgresPool {
  if (typeof pool === 'object' && pool !== null && 'totalCount' in pool) {
    if (typeof (pool as Partial<PostgresPool>).connect === 'function') return pool as PostgresPool;
  }
  throw complaint('ERR_OPTION', {
    option: 'pool',
    demand: 'a `Pool` of pg 8',
    // The message shows only the class of the value, because its fields may contain a password.
    value: kindOf(pool),
    remedy: 'For example pool: new Pool({ connectionString, max: 2 }). A `Client` is not a pool.',
  });
}

function kindOf(value: unknown): string {
  if (typeof value !== 'object' || value === null) return value === null ? 'null' : typeof value;
  const { name } = (Object.getPrototypeOf(value) as object | null)?.constructor ?? Object;
  return `an object of ${name}`;
}
