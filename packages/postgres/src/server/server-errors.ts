import { SluiceError, type ErrorCode } from '@sluice/core';
import { messageOf, reasonOf } from '@sluice/core/kit';

/** The meaning and the remedy of errors of the server, by SQLSTATE or by its first two characters, the class. */
const REMEDIES: Readonly<Record<string, string>> = {
  '25006': 'It is a standby, or read-only. Connect to the primary.',
  '28': 'The user or the password is wrong, or pg_hba.conf does not allow the connection.',
  '3D': 'The database does not exist. Create it, or connect to another one.',
  '42501': 'The user lacks a permission. The documentation of @sluice/postgres lists those that it needs.',
  '53100': 'Its disk is full. Make room on it.',
  '53200': 'It has too little memory.',
  '53300': 'It has no connection left. Raise `max_connections`, or make pools smaller.',
  '57P03': 'It is starting or stopping, and will answer when that is done.',
};

/** Classes of errors that concern the data of one call only: data exceptions, and integrity constraints. */
const DATA_CLASSES: ReadonlySet<string> = new Set(['22', '23']);

/** Errors that end when a call is sent again: a deadlock or a conflict with a program that writes to the tables. */
const CONFLICT_CLASSES: ReadonlySet<string> = new Set(['40']);

/** What the tables or functions of the store lack: they were deleted or changed. */
const MISSING_SCHEMA_STATES: ReadonlySet<string> = new Set(['42P01', '42703', '42883', '3F000']);

/** Waited for too long: for a lock, or a statement for `statement_timeout`. */
const TIMEOUT_STATES: ReadonlySet<string> = new Set(['55P03', '57014']);

/** Errors of the system when no connection can be made. */
const UNREACHED: ReadonlySet<unknown> = new Set([
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOENT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ETIMEDOUT',
]);
const UNREACHED_REMEDY =
  'Check that it runs and that the address of the pool is right: without a `connectionString`, pg connects to PGHOST, or to localhost.';

/** Returns the SQLSTATE of an error of the server; `undefined` for every other error. */
function sqlState(error: unknown): string | undefined {
  const { code, severity } = (error ?? {}) as { readonly code?: unknown; readonly severity?: unknown };
  if (!(error instanceof Error) || typeof severity !== 'string') return undefined;
  return typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code) ? code : undefined;
}

/** Whether a connection can be used after an error. The server ends it with severity FATAL and PANIC. */
export function keepsConnection(error: unknown): boolean {
  return sqlState(error) !== undefined && (error as { readonly severity?: unknown }).severity === 'ERROR';
}

/** Whether an error was caused by one of several batches of a call, which may be sent alone then. */
export function isOfOneBatch(error: unknown): boolean {
  const state = sqlState(error) ?? '';
  return DATA_CLASSES.has(state.slice(0, 2)) || CONFLICT_CLASSES.has(state.slice(0, 2));
}

/** Whether the tables or functions of the store are missing. */
export function lacksSchema(error: unknown): boolean {
  return MISSING_SCHEMA_STATES.has(sqlState(error) ?? '');
}

/** Converts the error of a call. A SluiceError is returned as it is. */
export function callError(error: unknown): SluiceError {
  if (error instanceof SluiceError) return error;
  const state = sqlState(error);
  if (state === undefined) {
    const remedy = UNREACHED.has((error as { readonly code?: unknown } | undefined)?.code)
      ? UNREACHED_REMEDY
      : undefined;
    return failure('ERR_STORE_UNAVAILABLE', 'The connection to PostgreSQL failed', error, remedy);
  }
  if (TIMEOUT_STATES.has(state)) {
    const remedy =
      'Look for a transaction that has been open for long (pg_stat_activity), or raise the deadline, or `statement_timeout` ' +
      'if the message names it.';
    return failure('ERR_STORE_DEADLINE', 'PostgreSQL cancelled the statement', error, remedy);
  }
  if (DATA_CLASSES.has(state.slice(0, 2))) {
    const remedy =
      'A row or a function is not as this version of @sluice/postgres makes it: store.migrate() looks at the functions. If a row is wrong, ' +
      'reset the bucket, and look for what else writes to the table.';
    return failure('ERR_STORE_BUCKET', 'PostgreSQL could not execute the call', error, remedy);
  }
  const remedy = REMEDIES[state] ?? REMEDIES[state.slice(0, 2)];
  return failure('ERR_STORE_UNAVAILABLE', 'PostgreSQL answered', error, remedy);
}

/** The error of `ready` when its time is over. */
export function notReadyError(timeoutMs: number, cause: unknown): SluiceError {
  const what = `PostgreSQL was not ready within ${timeoutMs} ms`;
  const remedy = 'Check that it runs and that its address is right, or raise `timeoutMs`.';
  if (cause === undefined) return new SluiceError('ERR_STORE_UNAVAILABLE', `${what}. ${remedy}`);
  return new SluiceError('ERR_STORE_UNAVAILABLE', `${what}: ${messageOf(cause)}`, { cause });
}

function failure(code: ErrorCode, what: string, cause: unknown, remedy?: string): SluiceError {
  const reason = sqlState(cause) === undefined ? reasonOf(cause) : messageOf(cause);
  const advice = remedy === undefined ? '' : ` ${remedy}`;
  return new SluiceError(code, `${what}: ${reason.replace(/\.$/, '')}.${advice}`, { cause });
}
