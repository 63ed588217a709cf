/** What an error of the server means for a call. */
interface ServerState {
  /**
   * - `server`: the server can't answer now, or not this store
   * - `call`: this call only, by its data
   * - `conflict`: this call only, which may pass when it is sent again
   * - `schema`: the tables or functions of the store were deleted or changed
   * - `timeout`: it has waited for too long, for a lock or for `statement_timeout`
   */
  readonly means: 'server' | 'call' | 'conflict' | 'schema' | 'timeout';
  /** The meaning and the remedy, in sentences. */
  readonly remedy?: string;
}

const OTHER_PROGRAM: ServerState = {
  means: 'call',
  remedy: 'Another program may write to the tables of the store. Give the store another `table`.',
};
const CONFLICT: ServerState = { means: 'conflict' };
const SCHEMA: ServerState = { means: 'schema' };
const TIMEOUT: ServerState = {
  means: 'timeout',
  remedy:
    'Look for a transaction that has been open for long (pg_stat_activity), or raise the deadline, or `statement_timeout` ' +
    'if the message names it.',
};

/**
 * All errors of servers that this package reads, by SQLSTATE or by its first two characters, the class. A test makes a real
 * server answer each.
 */
export const SERVER_STATES: Readonly<Record<string, ServerState>> = {
  '08': ofServer('A pooler such as PgBouncer has refused or ended the connection. The message says why.'),
  '22': OTHER_PROGRAM,
  '23': OTHER_PROGRAM,
  '25006': ofServer('It is a standby, or read-only. Connect to the primary.'),
  '28': ofServer('The user or the password is wrong, or pg_hba.conf does not allow the connection.'),
  '3D': ofServer('The database does not exist. Create it, or connect to another one.'),
  '3F000': SCHEMA,
  // A deadlock, or a conflict with a program that writes to the tables.
  '40': CONFLICT,
  '42501': ofServer('The user lacks a permission. The documentation of @sluice/postgres lists those that it needs.'),
  '42703': SCHEMA,
  '42883': SCHEMA,
  '42P01': SCHEMA,
  '53100': ofServer('Its disk is full. Make room on it.'),
  '53200': ofServer('It has too little memory, or too few locks. The message says what to raise.'),
  '53300': ofServer('It has no connection left. Raise `max_connections`, or make pools smaller.'),
  '55P03': TIMEOUT,
  '57014': TIMEOUT,
  '57P03': ofServer('It is starting or stopping, and will answer when that is done.'),
};

/** Returns what an SQLSTATE means; undefined if nothing is known of it. */
export function meaningOf(sqlState: string): ServerState | undefined {
  return SERVER_STATES[sqlState] ?? SERVER_STATES[sqlState.slice(0, 2)];
}

function ofServer(remedy: string): ServerState {
  return { means: 'server', remedy };
}
