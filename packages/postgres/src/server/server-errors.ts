import { SluiceError, type ErrorCode } from '@sluice/core';
import { messageOf, reasonOf } from '@sluice/core/kit';
import { meaningOf } from './server-states.ts';

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
  const means = meaningOf(sqlState(error) ?? '')?.means;
  return means === 'call' || means === 'conflict';
}

/** Whether the tables or functions of the store are missing. */
export function lacksSchema(error: unknown): boolean {
  return meaningOf(sqlState(error) ?? '')?.means === 'schema';
}

/** Whether the user lacks a permission. */
export function lacksPermission(error: unknown): boolean {
  return sqlState(error) === '42501';
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
  const { means, remedy } = meaningOf(state) ?? {};
  if (means === 'timeout') return failure('ERR_STORE_DEADLINE', 'PostgreSQL cancelled the statement', error, remedy);
  if (means === 'call') return failure('ERR_STORE_BUCKET', 'PostgreSQL could not execute the call', error, remedy);
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
