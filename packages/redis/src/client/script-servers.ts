import type { SluiceError, Time } from '@sluice/core';
import { TICKS_PER_MS } from '@sluice/core/kit';
import type { ConnectionCounts, ConnectionState } from './connection-status.ts';
import type { Script, ScriptCall } from './script-client.ts';

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
  /** Sends a call to the server of its keys. Returns an error, not a promise, if that server is not connected. */
  send(run: ScriptRun): Promise<readonly unknown[]> | SluiceError;
  close(): Promise<void>;
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

/** The server that a call was sent to. */
interface SentTo {
  readonly server: string;
  /** Notes that the call missed its deadline. */
  noteMiss(): void;
}

/**
 * One run of a script with its deadline. It may be sent to several servers in turn. All ticks are of the process's
 * own clock.
 */
export class ScriptRun {
  readonly call: ScriptCall;
  readonly script: Script;
  readonly startTicks: number;
  /** The time from the start to the deadline, in milliseconds. */
  readonly leftMs: number;
  readonly endTicks: number;
  /** The server to which the call was last sent. */
  sentTo: SentTo | undefined;

  /** @param ownScript - The script of the client, for a call without another one. */
  constructor(call: ScriptCall, ownScript: Script, startTicks: number) {
    this.call = call;
    this.script = call.script ?? ownScript;
    this.startTicks = startTicks;
    this.leftMs = call.deadlineMs - (call.waitedMs ?? 0);
    this.endTicks = startTicks + Math.floor(this.leftMs * TICKS_PER_MS);
  }

  /** Whether less than half of the time has passed. */
  isEarly(nowTicks: number): boolean {
    return nowTicks - this.startTicks < this.endTicks - nowTicks;
  }
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
