import { SluiceError } from '@sluice/core';
import { ServerClock, shown } from '@sluice/core/kit';

/** A Lua script, which a server identifies by its SHA-1. */
export interface Script {
  readonly name: string;
  readonly source: string;
  readonly sha1: string;
}

/** One call of a script. All its keys are in one hash slot. */
export interface ScriptCall {
  /** Default: the client's own script. A server gets the source of any other script with its first call. */
  readonly script?: Script;
  readonly keys: readonly string[];
  /** The arguments after the expiry: ARGV[2…]. */
  readonly args: readonly (string | number)[];
  /** How long the caller waits, in milliseconds, more than 0. The script must not write after that. */
  readonly deadlineMs: number;
}

export interface ScriptReply {
  /** Whether the script was executed; false if it had expired when the server received it. */
  readonly done: boolean;
  readonly nowTicks: number;
  /** `[nowTicks, …]`, for the caller. */
  readonly rest: readonly unknown[];
}

/**
 * Reads a reply `[1 | 0, now in ticks, …]`. It changes and reuses the array.
 *
 * @throws {SluiceError} `ERR_STORE_ANSWER` for any other reply.
 */
export function readReply(script: Script, reply: unknown): ScriptReply {
  if (!Array.isArray(reply)) throw malformedReplyError(script, reply);
  const [done, nowTicks] = reply as [unknown, number];
  if (nowTicks > Number.MAX_SAFE_INTEGER)
    throw new SluiceError('ERR_STORE_ANSWER', `${ServerClock.lateReason(nowTicks)}.`);
  if ((done !== 0 && done !== 1) || !Number.isSafeInteger(nowTicks)) throw malformedReplyError(script, reply);
  reply.shift();
  reply[0] = nowTicks;
  return { done: done === 1, nowTicks, rest: reply };
}

/** The error for a reply that the scripts of this store never give. */
export function malformedReplyError(script: Script, reply: unknown): SluiceError {
  return new SluiceError(
    'ERR_STORE_ANSWER',
    `The script ${script.name} must answer with [1 or 0, now in ticks, …], but answered ${shown(reply)}. ` +
      'Is there something between this process and Redis that changes answers?',
  );
}
