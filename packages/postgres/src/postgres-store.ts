import { SluiceError, type Time } from '@sluice/core';
import { checkBoolean, checkOptions, checkTime, classInWords, shown, systemTime, type Hints } from '@sluice/core/kit';
import { DEFAULT_TABLE } from './schema/schema-text.ts';
import { Schema } from './schema/schema.ts';
import { namesOf } from './schema/table-name.ts';
import { checkPool, GivenPool, keepMsOf, OwnPool, type PoolSource, type PostgresPool } from './server/pool.ts';
import { Session } from './server/session.ts';
import { TableStore, type PostgresStore } from './table-store.ts';

/** The options of {@link postgresStore}. Exactly one of `pool` and `connectionString` must be given. */
export interface PostgresStoreOptions {
  /**
   * A `Pool` of pg 8. The store uses one client of it at a time, for each call only, and never closes it. While all clients are
   * used by others, decisions wait, so give the store a pool of its own if your queries can use up yours.
   */
  readonly pool?: PostgresPool | undefined;
  /** `postgres://user@host:port/database`. The store makes a pool of its own, with at most two connections. */
  readonly connectionString?: string | undefined;
  /**
   * The table of the buckets, with a schema before a dot if needed: up to 48 of `a-z`, `0-9` and `_` each. The other names begin
   * with it. Default: `sluice`.
   */
  readonly table?: string | undefined;
  /**
   * Whether the buckets survive a crash of the server, and are copied to its replicas. Then every decision is written to the
   * write-ahead log, which costs most of the speed. Otherwise, all buckets are full after a crash. Default: false.
   */
  readonly logged?: boolean | undefined;
  /**
   * Whether a connection is kept while nobody uses the store, so that a limit that is rarely used does not have to wait for a
   * new one: one that was unused for five seconds, or for half of `idleTimeoutMillis` of the pool, is asked something. A
   * database that sleeps while nobody uses it, such as a serverless one, never does then. It does not keep the process alive.
   * Default: true with `connectionString`, false with `pool`.
   */
  readonly keepConnected?: boolean | undefined;
  /** Whether the store creates its tables and functions when they are missing. Default: true. */
  readonly migrate?: boolean | undefined;
  /**
   * The source of time of deadlines and of the sweep. Buckets follow the clock of PostgreSQL. Default: the process's own time;
   * for tests a `FakeTime` of `@sluice/core/testing`.
   */
  readonly time?: Time | undefined;
}

const NAMES = ['pool', 'connectionString', 'table', 'logged', 'keepConnected', 'migrate', 'time'] as const;

const POOL = 'is `pool` here, e.g. pool: new Pool({ connectionString })';
const TABLE = "is `table` here, e.g. table: 'sluice'";
const FAILURE = 'belongs to the limiter here: createLimiter({ failure: { deadlineMs, onFailure, gateways } })';
const SWEEP = 'has no counterpart: full buckets are deleted in small steps';

const HINTS: Hints = Object.fromEntries(
  Object.entries({
    storeClient: POOL,
    client: POOL,
    storeType: POOL,
    tableName: TABLE,
    keyPrefix: TABLE,
    schemaName: "is a part of `table` here, e.g. table: 'limits.sluice'",
    tableCreated: 'is `migrate: false` here',
    clearExpiredByTimeout: SWEEP,
    insuranceLimiter: FAILURE,
    deadlineMs: FAILURE,
    onFailure: FAILURE,
    url: 'is `connectionString` here',
    ...Object.fromEntries(
      ['host', 'port', 'user', 'password', 'database', 'ssl'].map((name) => [
        name,
        `is an option of the pool here: postgresStore({ pool: new Pool({ ${name} }) })`,
      ]),
    ),
  }).map(([name, text]) => [name, `\`${name}\` ${text}.`]),
);

/**
 * Creates a store that keeps its buckets in a table of PostgreSQL 14 or later, for any number of processes. One statement
 * decides each batch atomically, by the clock of the server. The rows are locked in the order of their keys, so that
 * decisions never end in a deadlock.
 *
 * The store creates its table at the first use, and deletes full buckets in small steps while it is used.
 *
 * @example
 * const store = postgresStore({ pool: new Pool({ connectionString, max: 2 }) });
 * const limiter = createLimiter({ limits, store });
 *
 * @throws {SluiceError} `ERR_UNKNOWN_OPTION` for an unknown option; `ERR_OPTION` for a wrong value, and if not exactly
 * one of `pool` and `connectionString` is given.
 */
export function postgresStore(options: PostgresStoreOptions): PostgresStore {
  rejectConnection(options);
  checkOptions('postgresStore', options, NAMES, HINTS, 'postgresStore({ pool: new Pool({ connectionString }) })');
  const { pool, table = DEFAULT_TABLE, logged = false, migrate = true, time = systemTime } = options;
  const { keepConnected = pool === undefined } = options;
  const names = namesOf(table);
  checkBoolean('logged', logged);
  checkBoolean('migrate', migrate);
  checkBoolean('keepConnected', keepConnected);
  checkTime(time);
  const session = new Session(sourceOf(options, time), time);
  const schema = new Schema({ names, logged, migrates: migrate });
  return new TableStore({ session, schema, names, time, keepMs: keepConnected ? keepMsOf(pool) : undefined });
}

function sourceOf({ pool, connectionString }: PostgresStoreOptions, time: Time): PoolSource {
  if (pool !== undefined && connectionString === undefined) return new GivenPool(checkPool(pool));
  if (connectionString !== undefined && pool === undefined)
    return new OwnPool(checkedConnection(connectionString), time);
  const [given, remedy] =
    pool === undefined
      ? ['neither was', 'For example postgresStore({ pool: new Pool({ connectionString }) }).']
      : ['both were', 'Leave one out.'];
  throw new SluiceError('ERR_OPTION', `\`pool\` or \`connectionString\` must be given, but ${given}. ${remedy}`);
}

// Messages show only the type of a value, because it may contain a password.
function checkedConnection(connectionString: unknown): string {
  if (typeof connectionString === 'string' && /^postgres(?:ql)?:\/\//.test(connectionString)) return connectionString;
  const was = typeof connectionString === 'string' ? 'another text' : shown(classInWords(connectionString));
  throw new SluiceError(
    'ERR_OPTION',
    `must be a URL that begins with postgres:// or postgresql://, but was ${was}. For everything else make ` +
      'a Pool of pg and give it as `pool`.',
    { path: 'connectionString' },
  );
}

// A message about unknown options shows their values, so a pool or URL in the place of the options would put its password
// into a log.
function rejectConnection(options: unknown): void {
  if (typeof options === 'string') throw notOptions('text', 'the URL as postgresStore({ connectionString })');
  if (typeof options !== 'object' || options === null || !('connect' in options)) return;
  throw notOptions('a pool', 'the pool as postgresStore({ pool })');
}

function notOptions(was: string, right: string): SluiceError {
  return new SluiceError('ERR_OPTION', `must be an object of options, but was ${was}. Pass ${right}.`, {
    path: 'postgresStore',
  });
}
