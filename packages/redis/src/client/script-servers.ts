import type { SluiceError, Time } from '@sluice/core';
import type { ConnectionCounts, ConnectionState } from './connection-status.ts';
import type { Script } from './script.ts';
import type { ScriptRun } from './script-run.ts';

/** The servers that a client runs scripts on: a single one, or the primaries of a cluster. */
export interface ScriptServers {
  readonly isCluster: boolean;
  /** The state of the connections. Only meaningful after the first change. */
  readonly state: Exclude<ConnectionState, 'closed'>;
  /**
   * The error of calls while no server is open, and an attempt to connect has failed since one was; otherwise
   * `undefined`. It is `undefined` in the short time in which a lost connection is made again.
   */
  readonly downCause: SluiceError | undefined;
  /** Returns the state of all servers, open or not. */
  list(): readonly ServerState[];
  /** Returns the server of the keys of a run; an error if it is not connected. */
  serverOf(run: ScriptRun): ScriptSender | SluiceError;
  close(): Promise<void>;
}

/** A server that runs scripts. */
interface ScriptSender {
  /** Runs a script, and ends the run. */
  send(run: ScriptRun): void;
}

/** The state of one server. */
export interface ServerState {
  /** `host:port`, or the path of the socket. */
  readonly server: string;
  /** Whether the script can be run now. */
  readonly isOpen: boolean;
  /** Whether the script can be run now, and the server has not rejected the last write. */
  readonly isHealthy: boolean;
  /** The last error of the connection or the server. */
  readonly lastError: unknown;
  /** The maximum error of the estimate of the server's clock, in milliseconds; `undefined` before the first answer. */
  readonly clockUncertaintyMs: number | undefined;
}

/** The dependencies that a client shares with its servers. */
export interface ClientParts {
  /** The client's own script. Every server loads it before its first call. */
  readonly script: Script;
  /** The process's own time. Only differences of the readings of its clock are used. */
  readonly time: Time;
  readonly counts: Counts;
}

/** {@link ConnectionCounts} that can be changed. */
export type Counts = { -readonly [Name in keyof ConnectionCounts]: number };

/** Creates counters that are all 0. */
export function createCounts(): Counts {
  return { calls: 0, unreachable: 0, missed: 0, expired: 0, reloads: 0, redirects: 0, resets: 0, connects: 0 };
}
