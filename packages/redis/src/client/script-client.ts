// The room client: the seam to any Redis client: run a script before a deadline, report connections.
import type { ConnectionReport, ConnectionStatus } from './connection-status.ts';
import type { ScriptRun } from './script-run.ts';
import type { ScriptCall } from './script.ts';

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
   *
   * @param nowMicros - The time, which the caller has just read.
   */
  send(run: ScriptRun, nowMicros: number): void;
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
