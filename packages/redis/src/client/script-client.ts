import { SluiceError } from '@sluice/core';
import { shown } from '@sluice/core/kit';
import type { ConnectionReport, ConnectionStatus } from './connection-status.ts';
import type { ScriptRun } from './script-run.ts';

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

/**
 * Runs scripts on the servers with the buckets: on one server, or on the primaries of a cluster. This interface is
 * all that the store knows of a Redis client.
 */
export interface ScriptClient {
  /** Whether all keys of a call must be in one hash slot. */
  readonly isCluster: boolean;
  /**
   * Runs a script on the server of its keys, and ends the run. It never throws.
   *
   * The client inserts the expiry as ARGV[1]: the last moment at which the script may write, in the server's time, as
   * an integer string of ticks of 1/16 µs since 2026-01-01 UTC. The reply of the script is an array that begins with
   * two whole numbers: 1 if the script was executed or 0 if it had expired, and the server's time in ticks.
   *
   * The run ends with the reply of an executed script without its first element: `[nowTicks, …]`, `nowTicks` a number.
   * Or it fails with `ERR_STORE_UNAVAILABLE` if the server is not connected (at once) or fails; `ERR_STORE_DEADLINE` if no
   * answer came in time; `ERR_STORE_BUCKET` if only this call failed (a key of a wrong type, an error in the script);
   * `ERR_STORE_ANSWER` for a reply of another shape; `ERR_CLOSED` after {@link close}.
   */
  send(run: ScriptRun): void;
  /** Runs a script as {@link send} does. The promise rejects with its errors. */
  run(call: ScriptCall): Promise<readonly unknown[]>;
  /**
   * Resolves when the script can be run on every server: when the state is `up`.
   *
   * @throws {SluiceError} Rejects with `ERR_STORE_UNAVAILABLE` after `timeoutMs`, with `ERR_CLOSED` if it is closed.
   */
  ready(timeoutMs: number): Promise<void>;
  /**
   * Registers a listener: for `down` when no server can be reached any more, at once if that is so already; for `up`
   * each time that a server can be reached again, or executes a call again after it rejected a write. A lost connection
   * is `down` only when an attempt to make it again has failed.
   *
   * @returns A function that removes the listener.
   */
  watch(listener: (report: ConnectionReport) => void): () => void;
  /** Returns the state of the connections and the counters. */
  status(): ConnectionStatus;
  /** Closes connections and timers. Pending calls reject with `ERR_STORE_UNAVAILABLE`. A second call has no effect. */
  close(): Promise<void>;
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
