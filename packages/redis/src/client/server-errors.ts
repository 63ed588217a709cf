import { SluiceError, type ErrorCode } from '@sluice/core';
import { messageOf, reasonOf, shown } from '@sluice/core/kit';
import type { Script } from './script.ts';

/** The meaning and the remedy of errors that concern the whole server, by the error's prefix. */
const SERVER_TROUBLE: Readonly<Record<string, string>> = {
  OOM: 'It has reached its `maxmemory` and evicts nothing. Give it more memory, or set `maxmemory-policy volatile-ttl`.',
  READONLY:
    'It is a replica, so the connection is made again. If that does not help, connect to the primary, or through Sentinel.',
  LOADING: 'It is still loading its data from disk, and will answer when that is done.',
  MASTERDOWN: 'It is a replica that has lost its primary. Connect to the primary, or through Sentinel.',
  CLUSTERDOWN: 'The cluster does not cover all slots. A primary is down and not replaced yet.',
  MOVED: 'The hash slot has moved to a node that is not connected yet.',
  ASK: 'The hash slot moves to a node that is not connected yet.',
  NOPERM: 'The Redis user lacks a permission. The documentation of @sluice/redis lists those that it needs.',
  NOAUTH: 'It requires a password. Put it into the client or the URL.',
  WRONGPASS: 'The user or the password is wrong. Correct them in the client or the URL.',
  MISCONF: "It can't save to disk and therefore rejects writes. Check its log.",
  NOREPLICAS: 'It has fewer replicas than `min-replicas-to-write` demands.',
  BUSY: 'Another script runs too long on it. `SCRIPT KILL` ends that script.',
};

/** The meaning and the remedy of errors that concern one call only, by the error's prefix. */
const CALL_TROUBLE: Readonly<Record<string, string>> = {
  WRONGTYPE:
    'Another program may write to these keys. Choose a `prefix` that no other program uses, or delete the keys.',
  CROSSSLOT: "Keys of several hash slots can't be sent in one call.",
  TRYAGAIN: 'Their hash slot is being moved to another node. This ends when the move is over.',
};

/** Errors of cluster nodes, which a client for a single server can't handle. */
const IS_CLUSTER = new Set(['CROSSSLOT', 'MOVED', 'ASK', 'TRYAGAIN']);
const WANTS_CLUSTER =
  'This is a node of a Redis Cluster. Pass a `Cluster` of ioredis or iovalkey, or `createCluster(…)` of node-redis, as `client`.';

/** Returns the prefix of a server's error, such as `OOM` or `WRONGTYPE`; `undefined` for errors that are not replies. */
export function errorPrefix(error: unknown): string | undefined {
  if (!isReply(error)) return undefined;
  const [, prefix = 'ERR'] = /^-?([A-Z]+)\b/.exec(error.message) ?? [];
  return prefix === 'ERR' ? prefixOfScriptError(error.message) : prefix;
}

// Redis 6 wraps the error of a command in a script: "ERR Error running script (call to f_…): @user_script:3: -OOM …"
function prefixOfScriptError(message: string): string {
  // Redis 7 has no prefix for a missing permission of a command in a script: "ERR The user executing the script can't …"
  if (message.includes('The user executing the script')) return 'NOPERM';
  const [, prefix = 'ERR'] = /@user_script: ?\d+: -?([A-Z]{2,})\b/.exec(message) ?? [];
  return prefix;
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
  if (!isInCluster && IS_CLUSTER.has(prefix)) return unavailableError(answered, error, WANTS_CLUSTER);
  const remedy = CALL_TROUBLE[prefix] ?? (prefix === 'ERR' && isOfScript(error) ? CALL_TROUBLE.WRONGTYPE : undefined);
  if (remedy === undefined) return unavailableError(answered, error, SERVER_TROUBLE[prefix]);
  const what = `The script ${script.name} failed on Redis at ${server} for the keys ${shown(keys)}`;
  return failure('ERR_STORE_BUCKET', { what, cause: error, remedy });
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
    SERVER_TROUBLE[errorPrefix(cause) ?? ''] ??
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
