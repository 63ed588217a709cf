import { SluiceError, type ErrorCode } from '@sluice/core';
import { messageOf, reasonOf, shown } from '@sluice/core/kit';
import type { Script } from './script.ts';
import { SERVER_WORDS, wordOf } from './server-words.ts';

const WANTS_CLUSTER =
  'This is a node of a Redis Cluster. Pass a `Cluster` of ioredis or iovalkey, or `createCluster(…)` of node-redis, as `client`.';

/**
 * Returns the word of a server's error, such as `OOM`, `WRONGTYPE` or another key of `SERVER_WORDS`; `undefined` for errors that
 * are not replies.
 */
export function errorPrefix(error: unknown): string | undefined {
  return isReply(error) ? wordOf(error.message) : undefined;
}

/** Whether the server does not have the script: after SCRIPT FLUSH, a restart or a failover. */
export function isNoScript(error: unknown): boolean {
  return errorPrefix(error) === 'NOSCRIPT';
}

/** The errors of a node of a cluster that gives a slot away, or has given it away. */
const MOVING_SLOT = new Set(['TRYAGAIN', 'MOVED', 'ASK']);

/** Whether a call has failed only because the hash slot of its keys is being moved. Nothing was executed. */
export function isMovingSlot(error: unknown): boolean {
  return error instanceof SluiceError && MOVING_SLOT.has(errorPrefix(error.cause) ?? '');
}

/** Where the error of a call comes from. */
export interface ErrorSource {
  readonly server: string;
  /** Whether the user passed a `Cluster` as client. */
  readonly isInCluster: boolean;
  readonly script: Script;
}

/**
 * Converts the error of a call: `ERR_STORE_BUCKET` if it concerns only this call, otherwise `ERR_STORE_UNAVAILABLE`,
 * also for unknown errors.
 */
export function callError(source: ErrorSource, keys: readonly string[], error: unknown): SluiceError {
  const { server, isInCluster, script } = source;
  const prefix = errorPrefix(error);
  if (prefix === undefined) return unavailableError(`The connection to Redis at ${server} failed`, error);
  const answered = `Redis at ${server} answered`;
  // An error that the script itself raises is one of what it has read.
  const word = SERVER_WORDS[prefix === 'ERR' && isOfScript(error) ? 'WRONGTYPE' : prefix];
  if (!isInCluster && word?.isOfCluster === true) return unavailableError(answered, error, WANTS_CLUSTER);
  if (word?.concerns !== 'call') return unavailableError(answered, error, word?.remedy);
  const what = `The script ${script.name} failed on Redis at ${server} for the keys ${shown(keys)}`;
  return failure('ERR_STORE_BUCKET', { what, cause: error, remedy: word.remedy });
}

function isOfScript(error: unknown): boolean {
  return /user_script|Error running script/.test((error as Error).message);
}

/** The error for a server that can't be reached or has failed. */
export function unavailableError(what: string, cause: unknown, remedy?: string): SluiceError {
  return failure('ERR_STORE_UNAVAILABLE', { what, cause, remedy });
}

/** The error for servers that are not ready in time. */
export function notReadyError(servers: string, timeoutMs: number, cause: unknown): SluiceError {
  const what = `Redis at ${servers} was not ready within ${timeoutMs} ms`;
  const remedy =
    SERVER_WORDS[errorPrefix(cause) ?? '']?.remedy ??
    'Check that it runs and that its address is right, or raise `timeoutMs`.';
  return cause === undefined
    ? new SluiceError('ERR_STORE_UNAVAILABLE', `${what}. ${remedy}`)
    : unavailableError(what, cause, remedy);
}

interface Trouble {
  readonly what: string;
  readonly cause: unknown;
  readonly remedy: string | undefined;
}

function failure(code: ErrorCode, { what, cause, remedy }: Trouble): SluiceError {
  const reason = isReply(cause) ? messageOf(cause) : reasonOf(cause);
  const advice = remedy === undefined ? '' : ` ${remedy}`;
  return new SluiceError(code, `${what}: ${reason.replace(/\.$/, '')}.${advice}`, { cause });
}

/** Whether an error is the reply of a server. */
export function isReply(error: unknown): error is Error {
  return error instanceof Error && error.name === 'ReplyError';
}
