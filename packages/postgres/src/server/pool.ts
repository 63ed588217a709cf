import { SluiceError, type Time } from '@sluice/core';
import { CallDeadlines, classInWords, complaint, reasonOf } from '@sluice/core/kit';

/** The part of a `Pool` of pg 8 that the store uses. */
export interface PostgresPool {
  /** Waits for a client of the pool, and lends it. */
  connect(): Promise<PostgresClient>;
  /** How many clients the pool has, with those whose connection is being made. */
  readonly totalCount: number;
  /** Its options. The store reads how long idle clients are kept, and bounds how long a connection may take to be made. */
  readonly options?: PostgresPoolOptions;
  /** Adds a listener: an idle connection that ends is an event, which would end the process without one. */
  on?(event: 'error', listener: (error: Error) => void): unknown;
  /** Removes a listener. */
  removeListener?(event: 'error', listener: (error: Error) => void): unknown;
}

/** The options of a {@link PostgresPool} that the store reads, in milliseconds. */
export interface PostgresPoolOptions {
  /** 0 or undefined: a connection may take forever to be made. */
  connectionTimeoutMillis?: number | null | undefined;
  /** 0: idle clients are kept. */
  idleTimeoutMillis?: number | null | undefined;
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

/** A pool that knows no limit has so long to make a connection, in milliseconds. */
const OPEN_MS = 4000;
/** No pool has longer, because the store asks for only two connections at a time. */
const MAX_OPEN_MS = 30_000;
/** So long is waited for the connections of a pool to be closed, in milliseconds. */
const CLOSE_MS = 1000;

/** Returns after how many milliseconds a pool gives up to make a connection, when it was asked by {@link connectWithin}. */
export function openMsOf({ options }: PostgresPool): number {
  const own = options?.connectionTimeoutMillis;
  return typeof own === 'number' && own > 0 ? Math.min(own, MAX_OPEN_MS) : OPEN_MS;
}

/**
 * Borrows a client. Without a limit, pg would wait forever for a server that accepts a connection and never answers, and
 * count it as one of the pool's. It reads the limit while it is called, so other callers keep that of the pool.
 */
export async function connectWithin(pool: PostgresPool): Promise<PostgresClient> {
  const { options } = pool;
  if (options === undefined) return pool.connect();
  const own = options.connectionTimeoutMillis;
  Reflect.set(options, 'connectionTimeoutMillis', openMsOf(pool));
  try {
    // Not awaited here: the option is for this call only.
    return pool.connect();
  } finally {
    Reflect.set(options, 'connectionTimeoutMillis', own);
  }
}

/** Gives a client back. What observes pg may throw here, and then there is nothing else to do. */
export function giveBack(client: Partial<PostgresClient> | undefined, destroy = false): void {
  try {
    client?.release?.(destroy);
  } catch {
    // It was given back, or it is lost to the pool.
  }
}

/** A connection that is to be kept is used so often, in milliseconds. */
const KEEP_MS = 5000;

/** Returns how long a connection may be unused, so that neither the pool nor what is between closes it. */
export function keepMsOf(pool?: PostgresPool): number {
  const idleMs = pool?.options?.idleTimeoutMillis;
  // pg counts from the time when the client was given back.
  return typeof idleMs === 'number' && idleMs > 0 ? Math.min(KEEP_MS, idleMs / 2) : KEEP_MS;
}

/** How many stores listen to the errors of a pool. */
const listening = new WeakMap<PostgresPool, number>();

function ignore(): void {}

/** A pool of the caller, which stays open. */
export class GivenPool implements PoolSource {
  readonly #pool: PostgresPool;
  #isOpen = true;

  constructor(pool: PostgresPool) {
    this.#pool = pool;
    const stores = listening.get(pool) ?? 0;
    listening.set(pool, stores + 1);
    // Without a listener, an idle connection that the server ends would end the process. The pool replaces it.
    if (stores === 0) pool.on?.('error', ignore);
  }

  open(): Promise<PostgresPool> {
    return Promise.resolve(this.#pool);
  }

  close(): Promise<void> {
    if (!this.#isOpen) return Promise.resolve();
    this.#isOpen = false;
    const stores = listening.get(this.#pool)! - 1;
    listening.set(this.#pool, stores);
    if (stores === 0) this.#pool.removeListener?.('error', ignore);
    return Promise.resolve();
  }
}

/** A pool of the store itself, with a connection for decisions and one to replace it. It is made at the first use. */
export class OwnPool implements PoolSource {
  readonly #connectionString: string;
  readonly #deadlines: CallDeadlines;
  #pool: Promise<PostgresPool & { end(): Promise<void> }> | undefined;

  constructor(connectionString: string, time: Time) {
    this.#connectionString = connectionString;
    this.#deadlines = new CallDeadlines(time);
  }

  open(): Promise<PostgresPool> {
    this.#pool ??= createPool(this.#connectionString);
    return this.#pool;
  }

  async close(): Promise<void> {
    // One that could not be made needs no end. One that is making a connection to a server that hangs ends after it.
    const end = async (): Promise<void> => (await this.#pool)?.end();
    await this.#deadlines
      .of(CLOSE_MS)
      .race(end(), () => undefined)
      .catch(() => undefined);
  }
}

/** The package pg can't be loaded. No later attempt can, either. */
export class NoPgError extends SluiceError {
  constructor(cause: unknown) {
    super(
      'ERR_STORE_UNAVAILABLE',
      `The PostgreSQL store needs the package pg, which can't be loaded (${reasonOf(cause)}). Install it: npm install pg.`,
      { cause },
    );
  }
}

async function createPool(connectionString: string) {
  const { Pool } = await importPg();
  const pool = new Pool({
    connectionString,
    max: 2,
    connectionTimeoutMillis: OPEN_MS,
    // A new connection has to plan all statements again.
    idleTimeoutMillis: 0,
    allowExitOnIdle: true,
    keepAlive: true,
    application_name: 'sluice',
  });
  // The pool replaces a connection that was lost while nobody used it.
  pool.on('error', ignore);
  return pool;
}

async function importPg() {
  try {
    const module = await import('pg');
    // Bundlers and Node differ in what they make of a CommonJS module.
    return (module as { readonly default?: Pick<typeof module, 'Pool'> }).default ?? module;
  } catch (cause) {
    throw new NoPgError(cause);
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
    value: classInWords(pool),
    remedy: 'For example pool: new Pool({ connectionString, max: 2 }). A `Client` is not a pool.',
  });
}
